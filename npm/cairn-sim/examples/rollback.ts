// SPDX-License-Identifier: MIT
// Rollback between two peers over any transport (docs/ROLLBACK.md): the twin of
// docs/example_rollback.c. A message is a plain object: send it in whatever form you like.
import { Command, CommandKind, Save, World } from 'cairn-sim';

export type Input = Pick<Command, 'kind' | 'slot' | 'buttons'> & { move: number[]; aim: number[] };
// A player's last inputs: inputs[i] is that of `tick` - i.
export interface Message { tick: number; slot: number; inputs: Input[] }

const WINDOW = 32, REPEATED = 16;

export class Peer {
    private readonly inputs: Input[][];
    private readonly known: number[];
    private readonly saves: Save[] = [];
    private wrong = Infinity; // the first tick stepped with a wrong input

    constructor(readonly world: World, readonly slot: number, first: readonly Input[]) {
        this.inputs = first.map((input) => Array(WINDOW).fill(input));
        this.known = first.map(() => 0);
    }

    get tick(): number { return Number(this.world.tick); }

    private step(): void {
        const tick = this.tick;
        this.saves[tick % WINDOW] = this.world.save(this.saves[tick % WINDOW]);
        this.inputs.forEach((inputs, slot) => {
            if (tick >= this.known[slot]) { // predict: the last input is held
                inputs[tick % WINDOW] = inputs[(tick + WINDOW - 1) % WINDOW];
            }
        });
        this.world.step(this.inputs.map((inputs) => inputs[tick % WINDOW]));
    }

    // Takes a message from anywhere, in any order, any number of times.
    receive(message: Message): void {
        const { tick, slot, inputs } = message, known = this.known[slot];
        for (let t = known; t <= tick && tick - t < REPEATED && t < known + WINDOW; ++t) {
            const arrived = inputs[tick - t];
            if (t < this.tick && JSON.stringify(this.inputs[slot][t % WINDOW]) !== JSON.stringify(arrived)) {
                this.wrong = Math.min(this.wrong, t);
            }
            this.inputs[slot][t % WINDOW] = arrived;
            this.known[slot] = t + 1;
        }
    }

    // Once per tick of the host's clock. Null: the other peer is too far behind; try again later.
    advance(input: Input): Message | null {
        const tick = this.tick;
        if (this.wrong !== Infinity) {
            this.world.restore(this.saves[this.wrong % WINDOW]);
            this.wrong = Infinity;
            while (this.tick < tick) {
                this.step();
            }
        }
        if (tick >= this.known[1 - this.slot] + REPEATED - 1) {
            return null;
        }
        this.inputs[this.slot][tick % WINDOW] = input;
        this.known[this.slot] = tick + 1;
        this.step();
        return this.last();
    }

    // The last inputs, to send again while advance returns null.
    last(): Message {
        const tick = this.tick - 1;
        const inputs = Array.from({ length: Math.min(REPEATED, tick + 1) }, (_, i) => this.inputs[this.slot][(tick - i) % WINDOW]);
        return { tick, slot: this.slot, inputs };
    }
}

export function join(slot: number): Input {
    return { kind: CommandKind.JOIN, slot, buttons: 0, move: [0, 0, 0], aim: [0, 0, 0] };
}
