// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';

// `vite build --mode standalone`: one file with everything in it, and the place where `cairn-replay page` puts a recording.
const standalone = {
    name: 'standalone',
    enforce: 'post',
    generateBundle(_, bundle) {
        const html = Object.values(bundle).find((each) => each.fileName === 'index.html');
        const version = /SIM_VERSION = (\d+)/.exec(readFileSync('src/cairn/generated.ts', 'utf8'))[1];
        const wasm = gzipSync(readFileSync('public/cairn_web_simd.wasm'), { level: 9 }).toString('base64');
        const icon = `data:image/svg+xml;base64,${readFileSync('public/icon.svg').toString('base64')}`;
        const [script] = Object.values(bundle).filter((each) => each.type === 'chunk');
        const [style] = Object.values(bundle).filter((each) => each.fileName.endsWith('.css'));
        const put = (text, pattern, by) => {
            if (!pattern.test(text)) {
                throw new Error(`index.html has no ${pattern}`);
            }
            return text.replace(pattern, () => by);
        };
        let source = String(html.source);
        source = put(source, /<link [^>]*rel="stylesheet"[^>]*>/, `<style>${style.source}</style>`);
        source = put(source, /<script type="module"[^>]*src=[^>]*><\/script>/, '');
        source = put(source, /<\/body>/, `<!--recording of simulation ${version}-->
<script type="application/wasm" id="module">${wasm}</script>
<script type="module">${script.code.replaceAll('</script', '<\\/script')}</script>
</body>`);
        source = source.replaceAll('./icon.svg', icon);
        for (const name of Object.keys(bundle)) {
            delete bundle[name];
        }
        this.emitFile({ type: 'asset', fileName: 'standalone.html', source });
    },
};

// Relative addresses, so that the page works in any folder of a server.
export default defineConfig(({ mode }) => ({
    base: './',
    build: { target: 'es2022', rolldownOptions: { checks: { pluginTimings: false } }, chunkSizeWarningLimit: 1000, assetsInlineLimit: 0, modulePreload: { polyfill: false },
        ...(mode === 'standalone' ? { emptyOutDir: false, copyPublicDir: false, rolldownOptions: { checks: { pluginTimings: false }, output: { codeSplitting: false } } } : {}) },
    worker: { format: mode === 'standalone' ? 'iife' : 'es' }, // a file may not load modules of its own
    ...(mode === 'standalone' ? { plugins: [standalone], resolve: { alias: [{ find: /^(.*\.worker\.js)\?worker$/, replacement: '$1?worker&inline' }] } } : {}),
}));
