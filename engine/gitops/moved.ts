/** What a catalog says under `moved`: parts and projects that got another name. Pure. */

import { kindWord, SECTION_OF } from '../../schemas/kinds.ts'
import type { Catalog, CatalogMoved } from '../../schemas/types.ts'
import { type ChangeKind, changeKinds, nameSince } from '../model/documents.ts'
import type { Path } from './tree.ts'

/** A line of `moved`. */
export interface Move {
  kind: ChangeKind
  from: string
  to: string
  /** Its place in the list. */
  index: number
}

/** The key beside the sections. */
export const MOVED_KEY = 'moved'

interface MoveFault {
  path: Path
  message: string
}

/** @returns the lines that keep the rules, and what is wrong with the others */
export function movesOf(list: readonly CatalogMoved[]): { moves: Move[]; faults: MoveFault[] } {
  const faults: MoveFault[] = []
  const moves = list.flatMap((line, index): Move[] => {
    const kinds = changeKinds.filter((kind) => line[kind] !== undefined)
    const [kind] = kinds
    if (kind !== undefined && kinds.length === 1) return [{ kind, from: line[kind]!, to: line.to, index }]
    faults.push({
      path: [MOVED_KEY, index],
      message: `must have exactly one of ${changeKinds.join(', ')} with the old name, beside to`,
    })
    return []
  })
  for (const { kind, from, to, index } of moves) {
    const fault = (field: string, message: string) =>
      faults.push({ path: [MOVED_KEY, index, field], message })
    const next = moves.find((other) => other.kind === kind && other.from === to)
    if (from === to) fault('to', `${to} is its name already`)
    else if (next)
      fault('to', `${to} is moved on to ${next.to}: say { ${kind}: ${from}, to: ${next.to} } in one step`)
    const earlier = moves.find((other) => other.kind === kind && other.from === from)!
    if (earlier.index !== index) fault(kind, `${kindWord(kind)} ${from} is moved twice; it can have one name`)
  }
  return { moves, faults }
}

/** What is wrong with moves beside what a whole catalog declares. */
export function moveFaults(moves: readonly Move[], catalog: Catalog): MoveFault[] {
  return moves.flatMap(({ kind, from, to, index }): MoveFault[] => {
    const entries = (catalog[SECTION_OF[kind]] ?? []) as readonly { name?: string }[]
    const has = (name: string) => entries.some((entry) => entry.name === name)
    if (has(from))
      return [
        {
          path: [MOVED_KEY, index, kind],
          message: `${kindWord(kind)} ${from} is still declared: what moved to ${to} is no longer called so`,
        },
      ]
    if (has(to)) return []
    return [
      { path: [MOVED_KEY, index, 'to'], message: `no ${kindWord(kind)} ${to} is declared in the catalog` },
    ]
  })
}

/**
 * Parts that get back the name they had before: the commit that gave another was reverted, or an earlier one is applied
 * again. A name that is new in the catalog, and that a part of the catalog as it was applied last had, is of that part.
 * @param wanted the catalog now. @param base as it was applied last. @param renames that were made, oldest first
 */
export function movesBack(
  wanted: Catalog,
  base: Catalog,
  renames: readonly Omit<Move, 'index'>[],
): CatalogMoved[] {
  const said = movesOf(wanted.moved ?? []).moves
  return [...new Set(renames.map(({ kind }) => kind))].flatMap((kind) => {
    const namesIn = (catalog: Catalog) =>
      new Set(((catalog[SECTION_OF[kind]] ?? []) as readonly { name?: string }[]).map(({ name }) => name))
    const [now, then] = [namesIn(wanted), namesIn(base)]
    return [...now].flatMap((name): CatalogMoved[] => {
      if (name === undefined || then.has(name)) return []
      const from = nameSince(renames, kind, name)
      const isSaid = said.some((move) => move.kind === kind && (move.from === from || move.to === name))
      return from === name || isSaid || !then.has(from) || now.has(from) ? [] : [{ [kind]: from, to: name }]
    })
  })
}

/**
 * Names that a catalog says, said when it was applied last, and that its parts no longer have, because people gave them
 * others in the instance.
 * @param base as it was applied last. @param nowOf what a part is called that had a name; null: it has it, or is gone
 */
export function movesByHand(
  wanted: Catalog,
  base: Catalog,
  nowOf: (kind: ChangeKind, name: string) => string | null,
): Omit<Move, 'index'>[] {
  return changeKinds.flatMap((kind) => {
    const [now, then] = [namesOf(wanted, kind), namesOf(base, kind)]
    return [...now].flatMap((from) => {
      const to = then.has(from) ? nowOf(kind, from) : null
      return to === null || now.has(to) ? [] : [{ kind, from, to }]
    })
  })
}

/**
 * Parts that the catalog gives another name, and that people gave a third in the instance meanwhile: they get that of the
 * catalog, and are not made a second time.
 * @param base as it was applied last, with the old names. @param nowOf as of `movesByHand`
 */
export function movesOfBoth(
  wanted: Catalog,
  base: Catalog,
  nowOf: (kind: ChangeKind, name: string) => string | null,
): Omit<Move, 'index'>[] {
  return movesOf(wanted.moved ?? []).moves.flatMap(({ kind, from: old, to }) => {
    const from = namesOf(base, kind).has(old) ? nowOf(kind, old) : null
    return from === null || from === to || namesOf(wanted, kind).has(from) ? [] : [{ kind, from, to }]
  })
}

const namesOf = (catalog: Catalog, kind: ChangeKind): Set<string> =>
  new Set(
    ((catalog[SECTION_OF[kind]] ?? []) as readonly { name?: string }[]).flatMap(({ name }) => name ?? []),
  )

/** A line of `moved`. */
export const lineOf = ({ kind, from, to }: Omit<Move, 'index'>): CatalogMoved => ({ [kind]: from, to })

/** The lines of `moved` after more was given another name: each says the last name in one step. */
export const onwards = (
  lines: readonly CatalogMoved[],
  moves: readonly Omit<Move, 'index'>[],
): CatalogMoved[] =>
  moves.reduce<CatalogMoved[]>(
    (now, { kind, from, to }) =>
      now
        .map((line) => (line?.[kind] !== undefined && line.to === from ? { ...line, to } : line))
        // What has the name again that it had before did not move.
        .filter((line) => line?.[kind] !== to),
    [...lines],
  )

type Named = Record<string, unknown>

/** A catalog in other names, such as one that was applied before they were given. */
export function withMoves(catalog: Catalog, moves: readonly Pick<Move, 'kind' | 'from' | 'to'>[]): Catalog {
  return moves.reduce<Catalog>((now, move) => {
    const { kind, from, to } = move
    const name = (value: unknown) => (value === from ? to : value)
    const names = (value: unknown) => (Array.isArray(value) ? value.map(name) : value)
    // Of a file by itself an entry, or a row, may be no map.
    const field = (entry: Named, key: string, change: (value: unknown) => unknown): Named =>
      entry?.[key] === undefined ? entry : { ...entry, [key]: change(entry[key]) }
    const rows = (key: string) => (value: unknown) =>
      Array.isArray(value) ? value.map((row: Named) => field(row, key, name)) : value
    const changed: Record<string, (entry: Named) => Named> = {}
    const also = (section: string, change: (entry: Named) => Named) => {
      const before = changed[section] ?? ((entry: Named) => entry)
      changed[section] = (entry) => change(before(entry))
    }
    also(SECTION_OF[kind], (entry) => field(entry, 'name', name))
    if (kind === 'source') also('triggers', (entry) => field(entry, 'sources', names))
    also('tests', (entry) => testWith(entry, kind, name))
    if (kind === 'mcp_server')
      also('agents', (entry) => field(field(entry, 'mcp_servers', names), 'tools', rows('server')))
    if (kind === 'trigger') {
      also('agents', (entry) => field(entry, 'trigger', name))
      also('wiring', (entry) => field(entry, 'wake', name))
    }
    if (kind === 'agent') {
      also('agents', (entry) => field(entry, 'handoffs', rows('agent')))
      also('wiring', (entry) => field(field(entry, 'agent', name), 'to', name))
    }
    if (kind === 'project') {
      for (const section of ['triggers', 'agents', 'mcp_servers', 'skills', 'wiring'])
        also(section, (entry) => field(entry, 'project', name))
      also('sources', (entry) => field(entry, 'projects', names))
      also('skills', (entry) => field(entry, 'used_by', names))
    } else
      also('projects', (entry) =>
        field(entry, 'objects', (value) =>
          Array.isArray(value)
            ? value.map((row: Named) =>
                String(row?.kind).replace(' ', '_') === kind ? field(row, 'name', name) : row,
              )
            : value,
        ),
      )
    return Object.fromEntries(
      Object.entries(now).map(([section, entries]) => [
        section,
        changed[section] && Array.isArray(entries)
          ? (entries as Named[]).map((entry) => changed[section]!(entry))
          : entries,
      ]),
    ) as Catalog
  }, catalog)
}

/** What a test of a catalog calls parts by. */
function testWith(test: Named, kind: ChangeKind, name: (value: unknown) => unknown): Named {
  const fields: Readonly<Partial<Record<ChangeKind, readonly string[]>>> = {
    source: ['source'],
    trigger: ['trigger'],
    agent: ['agent', 'hands_over_to'],
  }
  const rows = (value: unknown) =>
    Array.isArray(value)
      ? value.map((row: unknown) =>
          typeof row === 'object' && row !== null
            ? Object.fromEntries(
                Object.entries(row).map(([key, inner]) => [
                  key,
                  fields[kind]?.includes(key) ? name(inner) : inner,
                ]),
              )
            : row,
        )
      : value
  if (typeof test !== 'object' || test === null) return test
  return Object.fromEntries(
    Object.entries(test).map(([key, value]) => [
      key,
      key === 'events' || key === 'expect' ? rows(value) : value,
    ]),
  )
}
