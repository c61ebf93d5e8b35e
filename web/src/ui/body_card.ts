// SPDX-License-Identifier: MIT

// The fields of the body that was clicked.

import { BodyKind, ContactData, ShapeKind, World } from '../cairn/index.js';
import { Fact, Side, SLOT_NONE } from '../source/source.js';

const text = (numbers: ArrayLike<number>) => Array.from(numbers, (each) => each.toFixed(3)).join('  ');
const nameOf = (kinds: Record<string, number>, kind: number) =>
    Object.keys(kinds).find((key) => kinds[key] === kind)?.toLowerCase().replaceAll('_', ' ') ?? String(kind);

export function bodyFacts(source: Side, body: number): Fact[] {
    const { picture } = source;
    const row = picture.id.subarray(0, picture.count).indexOf(body);
    if (row < 0) {
        return [{ name: 'body', value: `${body} no longer exists` }];
    }
    const shapes = source.shapes.list.filter((shape) => shape.body === body).map((shape) => nameOf(ShapeKind, shape.kind));
    const facts: Fact[] = [{ name: 'id', value: String(body) },
        { name: 'shapes', value: shapes.length > 4 ? `${shapes.length}` : shapes.join(', ') },
        { name: 'position, m', value: text(picture.pose.subarray(7 * row, 7 * row + 3)), whole: true },
        { name: 'rotation', value: text(picture.pose.subarray(7 * row + 3, 7 * row + 7)), whole: true },
        { name: 'awake', value: picture.awake[row] !== 0 ? 'yes' : 'no' }];
    if (picture.owner[row] !== SLOT_NONE) {
        facts.push({ name: 'player', value: String(picture.owner[row]) });
    }
    const world = source.world();
    return world !== null && world.bodyExists(body) ? [...facts, ...worldFields(world, body)] : facts;
}

// What only a peer with a world of its own knows.
function worldFields(world: World, body: number): Fact[] {
    const { kind, linear_velocity: v, angular_velocity: w, user } = world.bodyState(body);
    const contacts = world.contacts(body);
    const force = contacts.reduce((sum, contact) => sum + forceOf(contact), 0);
    return [{ name: 'kind', value: nameOf(BodyKind, kind) },
        { name: 'mass, kg', value: world.bodyMass(body).mass.toPrecision(4) },
        { name: 'velocity, m/s', value: text([v.x, v.y, v.z]), whole: true },
        { name: 'turning, rad/s', value: text([w.x, w.y, w.z]), whole: true },
        { name: 'contacts', value: String(contacts.length) },
        { name: 'contact forces, N', value: force.toFixed(1) },
        { name: 'joints', value: String(world.joints(body).length) },
        { name: 'user word', value: String(user) }];
}

function forceOf(contact: ContactData): number {
    return contact.points.slice(0, contact.point_count).reduce((sum, point) => sum + point.normal_force, 0);
}
