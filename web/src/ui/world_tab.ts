// SPDX-License-Identifier: MIT

// The tab of worlds without a server: the scenes of the repository, or a scene file.

import { button, element, section, select } from './dom.js';

const files = import.meta.glob('../../scenes/*.json', { query: '?raw', import: 'default' }) as Record<string, () => Promise<string>>;
const nameOf = (path: string) => path.replace(/^.*\/|\.json$/g, '');
export const SCENES = Object.keys(files).map(nameOf);

export async function sceneText(name: string): Promise<string> {
    const path = Object.keys(files).find((each) => nameOf(each) === name);
    if (path === undefined) {
        throw new Error(`no scene is named '${name}'`);
    }
    return files[path]();
}

export function worldTab(chosen: string, open: (name: string) => void, openFile: (file: File) => void): HTMLElement {
    const file = element('input', { type: 'file', accept: '.json', hidden: true, change: () => file.files?.[0] && openFile(file.files[0]) });
    const scenes = select('Scene', SCENES.map((name) => [name, name] as const), chosen, open);
    return section('Scene', element('div', { class: 'row' }, scenes, button('restart', 'Begin again', () => open(scenes.value)),
        button('file…', 'Open a scene file', () => file.click()), file),
        element('p', {}, 'Stepped by this page alone, with the bits of every other build. Shift-click pushes a body.'));
}
