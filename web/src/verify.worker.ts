// SPDX-License-Identifier: MIT

// Verifies in a thread of its own, so that the picture goes on.

import { load } from './cairn/index.js';
import { verify, VerifyMessage, VerifyRequest } from './verify.js';

addEventListener('message', async (event: MessageEvent<VerifyRequest>) => {
    const tell = (message: VerifyMessage) => postMessage(message);
    try {
        const cairn = await load({ module: event.data.module });
        tell({ verdict: verify(cairn, event.data.file, (progress) => tell({ progress })) });
    } catch (error) {
        tell({ verdict: { good: false, words: String((error as Error).message), tick: -1, body: 0, ticks: 0, of: 0, seconds: 0, rate: 0 } });
    }
});
