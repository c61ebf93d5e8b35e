// SPDX-License-Identifier: MIT

// The words in which the two states of a desync capsule differ.

import type { Capsule, DifferentWord } from '../capsule.js';
import { button, element, section } from './dom.js';

const SHOWN_MAX = 64;

const placeOf = ({ bodies, section, element: index }: DifferentWord) => bodies.length === 0 ? `${section} ${index}`
    : bodies.length === 1 ? `body ${bodies[0]}` : `${section === 'joints' ? 'joint' : 'contact'} ${bodies.join('-')}`;

// Over the two worlds: what differs, and both values, for those whose panel is closed.
export function firstDifference({ words, total }: Capsule): HTMLElement[] {
    if (words.length === 0) {
        return [];
    }
    const more = total > 1 ? `, and ${total - 1} more` : '';
    return [element('p', {}, `${placeOf(words[0])}, ${words[0].field} differs${more}`), element('span', { class: 'mono' }, words[0].server),
        element('span', { class: 'mono bad' }, words[0].client)];
}

export function capsuleCard(capsule: Capsule, show: (bodies: number[]) => void): HTMLElement {
    const { words, total, client } = capsule;
    const rows = words.slice(0, SHOWN_MAX).map((word) => element('li', {},
        button(`${placeOf(word)}, ${word.field}`, 'Go to the body', () => show(word.bodies)),
        element('dl', { class: 'mono' }, element('dt', {}, 'server'), element('dd', {}, word.server), element('dt', {}, 'client'),
            element('dd', { class: 'bad' }, word.client))));
    const what = total === 0 ? 'The file does not say which words differ.' : `${total} ${total === 1 ? 'word differs' : 'words differ'} after the step` +
        (total > rows.length ? `; the first ${rows.length}:` : ':');
    return section('Differences', element('p', {}, what), ...(client === null ? [element('p', {}, 'The client\'s state is not in the file.')] : []),
        element('ul', { class: 'words' }, ...rows), element('p', {}, 'cairn-replay explain says why.'));
}
