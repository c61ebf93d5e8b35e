// SPDX-License-Identifier: MIT

// The page: one source at a time, shown by the stage and told by the instruments.

import { Cairn, load } from './cairn/index.js';
import { Controls } from './live/controls.js';
import { Drag } from './live/drag.js';
import { issueToken, parseToken, Room, rooms } from './live/tokens.js';
import type { BodyMeshes } from './scene/bodies.js';
import type { OverlayLines } from './scene/overlays.js';
import { Stage } from './scene/stage.js';
import { isCapsule } from './capsule.js';
import { BroadcastSource } from './source/broadcast_source.js';
import { CapsuleSource } from './source/capsule_source.js';
import { LiveRoom } from './source/live.js';
import { LocalWorld } from './source/local.js';
import { ReplaySource } from './source/replay_source.js';
import type { Side, Source } from './source/source.js';
import { Bar } from './ui/bar.js';
import { capsuleCard, firstDifference } from './ui/capsule_card.js';
import { byId, element } from './ui/dom.js';
import { Instruments } from './ui/instruments.js';
import { Choice, liveTab, renewRooms } from './ui/live_tab.js';
import { OperatorCard } from './ui/operator_card.js';
import { ReplayTab } from './ui/replay_tab.js';
import { sceneText, worldTab } from './ui/world_tab.js';
import type { Verdict, VerifyMessage, VerifyRequest } from './verify.js';
import VerifyWorker from './verify.worker.js?worker';

const ROOMS_EVERY_MS = 5000;

export type Tab = 'world' | 'live' | 'replay';

export class Page {
    readonly stage = new Stage(byId<HTMLCanvasElement>('view'));
    readonly instruments: Instruments;
    readonly bar = new Bar(byId('bar'));
    source: Source | null = null;
    tab: Tab = 'world';
    verdict: Verdict | null = null;
    roomList: Room[] | null = null;
    private controls: Controls | null = null;
    private replayTab: ReplayTab | null = null;
    private differs = new Set<number>();
    private follows = 0;
    private before = 0;
    private pressed: { x: number; y: number } | null = null;
    private drag: Drag | null = null;
    private operatorCard: OperatorCard | null = null;

    constructor(readonly cairn: Cairn, private readonly module: WebAssembly.Module, private readonly choice: Partial<Choice>) {
        this.instruments = new Instruments(this.stage, cairn);
        this.listen();
        setInterval(() => void this.renewRooms(), ROOMS_EVERY_MS);
        requestAnimationFrame((now) => this.draw(now));
    }

    // ---- what is shown

    async openTab(tab: Tab): Promise<void> {
        this.tab = tab;
        for (const each of document.querySelectorAll<HTMLElement>('#tabs button')) {
            each.toggleAttribute('aria-current', false);
            if (each.dataset.tab === tab) {
                each.setAttribute('aria-current', 'page');
            }
        }
        if (tab === 'live') {
            this.roomList = await rooms();
        }
        this.showPanel();
    }

    private async renewRooms(): Promise<void> {
        if (this.tab === 'live' && this.roomList !== null && !document.hidden) {
            this.roomList = await rooms() ?? this.roomList;
            renewRooms(byId('panel'), this.roomList);
        }
    }

    async openScene(name: string): Promise<void> {
        await this.attempt(async () => this.show(new LocalWorld(name, this.cairn, await sceneText(name))));
    }

    async openSceneText(name: string, text: string): Promise<void> {
        await this.attempt(() => this.show(new LocalWorld(name, this.cairn, text)));
    }

    async openRecording(name: string, bytes: Uint8Array): Promise<void> {
        await this.attempt(() => this.show(isCapsule(this.cairn, bytes) ? new CapsuleSource(name, this.cairn, bytes)
            : new ReplaySource(name, this.cairn, bytes)));
    }

    // A recording, or the folder of a broadcast; `key`: of the signer that is expected, in hexadecimal.
    async openAddress(address: string, key = ''): Promise<void> {
        await this.attempt(async () => {
            if (/(\/|\/?index\.json)$/.test(address)) {
                this.show(await BroadcastSource.open(this.cairn, address, key));
                return;
            }
            const answer = await fetch(address);
            if (!answer.ok) {
                throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
            }
            await this.openRecording(address, new Uint8Array(await answer.arrayBuffer()));
        });
    }

    async join(choice: Choice): Promise<void> {
        await this.attempt(async () => {
            const token = choice.token !== '' ? parseToken(choice.token)
                : await issueToken(choice.room, choice.spectator ? 'spectator' : 'player', choice.operator);
            const socket = new URL('ws', location.href);
            socket.protocol = socket.protocol.replace('http', 'ws');
            socket.search = socket.hash = '';
            Object.assign(this.choice, choice);
            const room = new LiveRoom(this.cairn, { ...choice, token, socket: socket.href });
            this.show(room);
            room.operator.onFork = () => void this.openTab('live'); // with the new room in the list
            if (!choice.spectator) {
                this.controls = new Controls(this.stage, byId('touch'));
                room.input = (seconds) => this.controls!.read(seconds);
            }
        });
    }

    leave(): void {
        this.show(null);
    }

    private show(source: Source | null): void {
        this.controls?.dispose();
        this.controls = null;
        this.endDrag();
        this.source?.dispose();
        this.source = source;
        this.follows = 0;
        this.differs.clear();
        this.endVerification();
        this.verdict = null;
        this.interrupted = false;
        this.instruments.selected = 0;
        this.say('');
        this.bar.show(source);
        this.stage.divide(source?.beside != null);
        if (source !== null && source.picture.count > 0) {
            this.stage.frame(source.picture);
        }
        this.framed = source !== null && source.picture.count > 0;
        this.showSides(source);
        this.showPanel();
        if (source instanceof CapsuleSource) {
            this.showBodies(source.capsule.words.flatMap(({ bodies }) => bodies));
        }
    }
    private framed = false;
    private interrupted = false;

    // The names of two worlds, over them.
    private showSides(source: Source | null): void {
        const sides = byId('sides'), beside = source?.beside ?? null;
        sides.hidden = beside === null;
        sides.replaceChildren(...(beside === null ? [] : [element('b', {}, source!.label), element('b', {}, beside.label)]),
            ...(source instanceof CapsuleSource ? firstDifference(source.capsule) : []));
        this.leaveRoom();
    }

    private showPanel(): void {
        const head = this.tab === 'world'
            ? worldTab(this.source instanceof LocalWorld ? this.source.title : 'demo', (name) => void this.openScene(name), (file) => void this.openFile(file))
            : this.tab === 'live'
                ? liveTab(this.roomList, this.choice, (choice) => void this.join(choice), this.source instanceof LiveRoom ? () => this.leave() : null)
                : this.replayPanel();
        const capsule = this.source instanceof CapsuleSource ? [capsuleCard(this.source.capsule, (bodies) => this.showBodies(bodies))] : [];
        this.operatorCard = !(this.source instanceof LiveRoom) ? null : new OperatorCard(this.source.operator,
            () => this.stage.orbit.target.toArray(), () => this.instruments.selected, () => this.source?.picture.tick ?? 0);
        byId('panel').replaceChildren(head, ...capsule, ...(this.operatorCard === null ? [] : [this.operatorCard.root]), ...(this.source === null ? [] : this.instruments.parts));
    }

    private replayPanel(): HTMLElement {
        const verify = this.source instanceof ReplaySource ? () => this.verify() : null;
        const { source } = this, goLive = source instanceof BroadcastSource ? () => source.goLive() : null;
        this.replayTab = new ReplayTab((file) => void this.openFile(file), (address) => void this.openAddress(address), verify, goLive,
            (tick, body) => this.showDifference(tick, body));
        if (this.verifier !== null) {
            this.replayTab.begin();
        } else if (this.verdict !== null) {
            this.replayTab.verdict(this.verdict);
        }
        return this.replayTab.root;
    }

    // ---- recordings

    verify(): void {
        const { source } = this;
        if (!(source instanceof ReplaySource) || this.verifier !== null) {
            return;
        }
        const worker = this.verifier = new VerifyWorker();
        this.replayTab?.begin();
        const done = (verdict: Verdict) => {
            this.endVerification();
            this.verdict = verdict;
            this.replayTab?.verdict(verdict);
            if (verdict.tick >= 0) {
                source.differs = { tick: verdict.tick, kind: 'differs', words: verdict.words };
            }
        };
        worker.onmessage = (event: MessageEvent<VerifyMessage>) =>
            'verdict' in event.data ? done(event.data.verdict) : this.replayTab?.progress(event.data.progress);
        worker.onerror = (event) => done({ good: false, words: event.message ?? 'the thread that verifies cannot begin', tick: -1, body: 0, ticks: 0, of: 0, seconds: 0, rate: 0 });
        worker.postMessage({ module: this.module, file: source.file } satisfies VerifyRequest);
    }

    private endVerification(): void {
        this.verifier?.terminate();
        this.verifier = null;
    }
    private verifier: Worker | null = null;

    showDifference(tick: number, body: number): void {
        if (this.source instanceof ReplaySource) {
            this.source.playing = false;
            this.source.seek(tick);
            this.showBodies(body === 0 ? [] : [body]);
        }
    }

    // Colours the bodies and looks at the first.
    private showBodies(bodies: number[]): void {
        this.differs = new Set(bodies);
        this.instruments.selected = bodies[0] ?? 0;
        const { picture } = this.source!, row = picture.id.subarray(0, picture.count).indexOf(this.instruments.selected);
        if (row >= 0) {
            this.stage.follow(picture.pose[7 * row], picture.pose[7 * row + 1], picture.pose[7 * row + 2]);
            this.stage.zoom(Math.min(1, (this.source!.beside === null ? 14 : 8) / this.stage.distance));
        }
    }

    // ---- frames

    private draw(now: number): void {
        requestAnimationFrame((next) => this.draw(next));
        const { source } = this;
        if (source === null) {
            return;
        }
        if (this.before !== 0) {
            this.stage.pace(now - this.before);
        }
        this.before = now;
        source.advance(now);
        if (!this.framed && source.picture.count > 0) {
            this.stage.frame(source.picture);
            this.framed = true;
        }
        this.followPlayer(source);
        this.pull(source, now);
        this.operatorCard?.update();
        const { stage } = this;
        this.mark(source, stage.bodies, stage.lines);
        if (source.beside !== null) {
            this.mark(source.beside, stage.besideBodies, stage.besideLines);
        }
        stage.draw(source.picture, source.beside?.picture ?? null);
        this.bar.update();
        this.instruments.update(source, now);
        if (source instanceof LiveRoom) {
            this.tellConnection(source);
        }
    }

    private tellConnection(room: LiveRoom): void {
        if (room.failed) {
            this.say(room.stateText, true);
        } else if (room.interrupted !== this.interrupted) {
            this.interrupted = room.interrupted;
            this.say(this.interrupted ? 'The connection ended; it is opened again.' : '');
        }
    }

    private pull(source: Source, now: number): void {
        const velocity = this.drag?.velocity(source.picture, now) ?? null;
        if (velocity !== null && source instanceof LocalWorld) {
            source.throwAt(this.drag!.body, velocity);
        } else if (velocity !== null && source instanceof LiveRoom) {
            source.operator.ask('set-velocity', { body: this.drag!.body, a: velocity });
        }
    }

    private endDrag(): void {
        this.drag?.end();
        this.drag = null;
    }

    private mark(side: Side, bodies: BodyMeshes, lines: OverlayLines): void {
        const { overlays, selected } = this.instruments;
        lines.update(side.world(), side.picture, overlays, side.interest);
        bodies.update(side.picture, side.shapes, { sleep: overlays.has('sleep'), islands: lines.islands, selected, differs: this.differs,
            ageOf: overlays.has('interest') && side.interest !== undefined ? (body) => side.interest!.ageOf(body) : null });
    }

    // The camera keeps its distance to the player's body.
    private followPlayer(source: Source): void {
        const { picture, player } = source;
        const row = player === 0 ? -1 : picture.id.subarray(0, picture.count).indexOf(player);
        if (row < 0) {
            return;
        }
        this.stage.follow(picture.pose[7 * row], picture.pose[7 * row + 1] + 0.8, picture.pose[7 * row + 2]);
        if (this.follows !== player) {
            this.follows = player;
            this.stage.zoom(14 / Math.max(this.stage.distance, 1));
        }
    }

    // ---- what a person does

    private listen(): void {
        const { canvas } = this.stage;
        // Before the camera sees it, which must not turn.
        canvas.addEventListener('pointerdown', (event) => this.press(event), { capture: true });
        canvas.addEventListener('pointermove', (event) => this.drag?.move(event.clientX, event.clientY));
        canvas.addEventListener('pointercancel', () => this.endDrag());
        canvas.addEventListener('pointerup', (event) => {
            this.endDrag();
            const still = this.pressed !== null && Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y) < 5;
            this.pressed = null;
            if (still) {
                this.click(event);
            }
        });
        addEventListener('keydown', (event) => this.key(event));
        // What was chosen with a pointer keeps no key: the next one is the player's or the camera's.
        let pointed = false;
        addEventListener('pointerdown', () => { pointed = true; }, { capture: true });
        addEventListener('keydown', () => { pointed = false; }, { capture: true });
        const giveBack = (event: Event) => {
            if (pointed && event.target instanceof Element && event.target.closest('button, select, input[type=range]') !== null) {
                canvas.focus({ preventScroll: true });
            }
        };
        addEventListener('click', (event) => event.target instanceof HTMLButtonElement && giveBack(event));
        addEventListener('change', giveBack);
        addEventListener('resize', () => this.leaveRoom());
        addEventListener('dragover', (event) => event.preventDefault());
        addEventListener('drop', (event) => {
            event.preventDefault();
            const file = event.dataTransfer?.files[0];
            if (file !== undefined) {
                void this.openFile(file);
            }
        });
        for (const each of document.querySelectorAll<HTMLElement>('#tabs button')) {
            each.addEventListener('click', () => void this.openTab(each.dataset.tab as Tab));
        }
        const fold = byId('fold'), panel = byId('panel');
        const unfold = (open: boolean): void => {
            panel.hidden = !open;
            document.body.classList.toggle('panel-open', open); // on a phone it lies where the controls are
            fold.setAttribute('aria-expanded', String(open));
            this.leaveRoom();
        };
        fold.addEventListener('click', () => unfold(Boolean(panel.hidden)));
        unfold(!matchMedia('(max-width: 640px)').matches);
    }

    private leaveRoom(): void {
        const panel = byId('panel'), narrow = matchMedia('(max-width: 640px)').matches;
        const { clientWidth, clientHeight } = document.documentElement, { left, top } = panel.getBoundingClientRect();
        const right = panel.hidden || narrow ? 0 : clientWidth - left;
        byId('sides').style.right = `${right}px`;
        this.stage.leaveRoom(right, panel.hidden || !narrow ? 0 : clientHeight - top);
    }

    private press(event: PointerEvent): void {
        this.pressed = { x: event.clientX, y: event.clientY };
        const { source } = this, may = source instanceof LocalWorld || (source instanceof LiveRoom && source.operator.allowed);
        const hit = (event.altKey || this.operatorCard?.drags) && may ? this.stage.pick(event.clientX, event.clientY) : null;
        if (hit !== null) {
            this.stage.canvas.setPointerCapture(event.pointerId);
            this.drag = new Drag(this.stage, hit.body, hit.point, source!.picture);
        }
    }

    private click(event: PointerEvent): void {
        const hit = this.stage.pick(event.clientX, event.clientY);
        this.instruments.selected = hit?.body ?? 0;
        if (hit !== null && event.shiftKey && this.source instanceof LocalWorld) {
            const way = hit.point.clone().sub(this.stage.camera.position).normalize().multiplyScalar(5 * this.source.world().bodyMass(hit.body).mass);
            this.source.push(hit.body, [way.x, way.y, way.z], [hit.point.x, hit.point.y, hit.point.z]);
        }
    }

    private key(event: KeyboardEvent): void {
        const free = event.target === document.body || event.target === this.stage.canvas;
        if (!free || event.ctrlKey || event.metaKey || event.altKey) {
            return;
        }
        if (this.bar.key(event) || this.stage.key(event.key) || this.selectByKey(event.key)) {
            event.preventDefault();
        }
    }

    // Brackets go through the bodies that may move, Enter takes the one in the middle of the picture.
    private selectByKey(key: string): boolean {
        const picture = this.source?.picture;
        if (picture === undefined || !['[', ']', 'Enter', 'Escape'].includes(key)) {
            return false;
        }
        const bodies = Array.from(picture.id.subarray(0, picture.count)).filter((_, row) => picture.kind[row] !== 0 && picture.hidden[row] === 0).sort((a, b) => a - b);
        const at = bodies.indexOf(this.instruments.selected), { length } = bodies;
        if (key === 'Enter') {
            this.instruments.selected = this.stage.pickMiddle()?.body ?? this.instruments.selected;
        } else if (key === 'Escape') {
            this.instruments.selected = 0;
        } else if (length > 0) {
            this.instruments.selected = key === ']' ? bodies[(at + 1) % length] : bodies[((at < 0 ? 0 : at) - 1 + length) % length];
        }
        return true;
    }

    private async openFile(file: File): Promise<void> {
        const recording = file.name.endsWith('.cairn');
        await this.openTab(recording ? 'replay' : 'world');
        if (recording) {
            await this.openRecording(file.name, new Uint8Array(await file.arrayBuffer()));
        } else {
            await this.openSceneText(file.name, await file.text());
        }
    }

    // ---- messages

    say(words: string, bad = false): void {
        const message = byId('message');
        message.hidden = words === '';
        message.classList.toggle('bad', bad);
        if (message.textContent !== words) {
            message.textContent = words;
        }
    }

    private async attempt(action: () => void | Promise<void>): Promise<void> {
        try {
            await action();
        } catch (error) {
            this.say(String((error as Error).message), true);
        }
    }
}

export async function openPage(module: WebAssembly.Module, choice: Partial<Choice>): Promise<Page> {
    return new Page(await load({ module }), module, choice);
}
