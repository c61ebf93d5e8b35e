// SPDX-License-Identifier: MIT
import { defineConfig } from 'vite';

// Relative addresses, so that the page works in any folder of a server.
export default defineConfig({
    base: './',
    build: { target: 'es2022', chunkSizeWarningLimit: 1000, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
    worker: { format: 'es' },
});
