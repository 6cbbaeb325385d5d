/**
 * Snapshots as they were stored by each version of each machine. A version that changes a machine
 * adds its own to snapshots.json and leaves the earlier ones as they are.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Kind, lifecycles } from '../../machines/index.ts'
import { accepts, begin, eventsOf, type Lifecycle, type Snapshot, step } from '../../machines/step.ts'

const recorded = JSON.parse(readFileSync(new URL('snapshots.json', import.meta.url), 'utf8')) as Record<
  Kind,
  Record<string, Snapshot[]>
>
const LATE = 1_800_000_000_000

describe.each(Object.keys(lifecycles) as Kind[])('stored snapshots of a %s', (kind) => {
  const lifecycle: Lifecycle = lifecycles[kind]
  const all = Object.values(recorded[kind]).flat()

  it('are recorded for every version of its machine, and of this one for every state', () => {
    const versions = Array.from({ length: lifecycle.version }, (_, index) => String(index + 1))
    expect(Object.keys(recorded[kind])).toEqual(versions)
    for (const [version, snapshots] of Object.entries(recorded[kind]))
      expect(snapshots.every(({ v }) => v === Number(version))).toBe(true)
    expect(recorded[kind][String(lifecycle.version)]!.map(({ value }) => value).sort()).toEqual(
      Object.keys(lifecycle.machine.states).sort(),
    )
  })

  it('are read whichever version stored them, and stored again by this one', () => {
    for (const snapshot of all) {
      const open = accepts(lifecycle, snapshot, LATE)
      expect(open.length > 0, JSON.stringify(snapshot)).toBe(isOpen(kind, snapshot))
      for (const type of open) {
        const { snapshot: next } = step(lifecycle, snapshot, { type, at: LATE })
        expect(next.v).toBe(lifecycle.version)
        expect(Object.keys(lifecycle.machine.states)).toContain(next.value)
      }
    }
  })

  it('have the context that its machine writes', () => {
    const fields = Object.keys(begin(lifecycle).snapshot.context).sort()
    for (const snapshot of recorded[kind][String(lifecycle.version)]!)
      expect(Object.keys(snapshot.context).sort()).toEqual(fields)
  })

  it('are read without a context, as the first fields a machine gains will be missing', () => {
    for (const snapshot of all)
      for (const type of eventsOf(lifecycle)) {
        const { snapshot: next } = step(lifecycle, { ...snapshot, context: {} }, { type, at: LATE })
        for (const [field, value] of Object.entries(next.context))
          expect(value, `${snapshot.value} ${type} ${field}`).not.toBeNaN()
      }
  })

  it('accept the same without a context as they did at the start of an object', () => {
    const fresh = begin(lifecycle).snapshot
    expect(accepts(lifecycle, { ...fresh, context: {} }, LATE)).toEqual(accepts(lifecycle, fresh, LATE))
  })

  it('of a newer version are refused', () => {
    for (const snapshot of recorded[kind][String(lifecycle.version)]!) {
      const newer = { ...snapshot, v: lifecycle.version + 1 }
      expect(() => step(lifecycle, newer, { type: eventsOf(lifecycle)[0]! })).toThrow(
        `a ${kind} snapshot was written by a newer version (${newer.v})`,
      )
      expect(() => accepts(lifecycle, newer)).toThrow('newer version')
    }
  })

  it('of a state that is gone are refused', () => {
    const gone = { ...begin(lifecycle).snapshot, value: 'asleep' }
    expect(() => step(lifecycle, gone, { type: eventsOf(lifecycle)[0]! })).toThrow(
      "State 'asleep' does not exist",
    )
  })
})

describe('a source that version 1 deleted for good', () => {
  const [, , deleted] = recorded.source['1']!

  it('can be brought back by this version, which writes it as its own', () => {
    expect(deleted).toMatchObject({ value: 'deleted', status: 'done' })
    expect(step(lifecycles.source, deleted!, { type: 'restore' })).toEqual({
      accepted: true,
      snapshot: { value: 'active', context: {}, status: 'active', v: 2 },
      effects: [],
    })
  })

  it('stays deleted until it is', () => {
    expect(step(lifecycles.source, deleted!, { type: 'pause' })).toEqual({
      accepted: false,
      snapshot: { ...deleted, status: 'active', v: 2 },
      effects: [],
    })
  })
})

/** In version 1 of a source, a deleted one was final; this version reads it as one to bring back. */
function isOpen(kind: Kind, { status }: Snapshot): boolean {
  return status === 'active' || kind === 'source'
}
