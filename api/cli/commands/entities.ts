/** `svc entities`: the names that one thing has in several systems, joined (docs/entities.md). */
import { Argument } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import type { EntityCoverage, EntityNeighbours, JoinedEntity } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type Column, escapeLine, type Io, table } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, say, toName, verb, whole } from '../verbs.ts'

type Draft = Flags & {
  kind?: string
  description?: string
  ownedBy?: string[]
  runsOn?: string[]
  calls?: string[]
}

const ENTITIES: Column<JoinedEntity>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'KIND', cell: ({ kind }) => kind ?? '' },
  { title: 'NAMES', cell: ({ is }) => is.join(', ') },
  { title: 'OWNED BY', cell: ({ owned_by = [] }) => owned_by.join(', ') },
]

const NEIGHBOURS: Column<EntityNeighbours['neighbours'][number]>[] = [
  { title: 'IT', cell: ({ edge }) => EDGES[edge] },
  { title: 'WHAT', cell: ({ label, value }) => `${label}=${value}` },
  { title: 'BY', cell: ({ by, count }) => (by === 'rules' ? 'a rule' : `${count} in ${by}`) },
  { title: 'LAST SEEN', cell: ({ last_seen }) => last_seen ?? 'not in this window' },
  {
    title: 'INCIDENTS',
    cell: ({ open_incidents }) => String(open_incidents),
    style: ({ open_incidents }) => (open_incidents ? 'red' : 'dim'),
  },
]

const EDGES: Readonly<Record<EntityNeighbours['neighbours'][number]['edge'], string>> = {
  calls: 'calls',
  called_by: 'is called by',
  runs_on: 'runs on',
  runs: 'runs',
  owned_by: 'is owned by',
  owns: 'owns',
}

const DRAFT = [
  ['--kind <kind>', 'what it is, such as service or host'],
  ['--description <text>', 'one line on what it is'],
  ['--owned-by <names...>', 'who owns it, label=value'],
  ['--runs-on <names...>', 'what it runs on, label=value'],
  ['--calls <names...>', 'what it calls, label=value'],
] as const

/** Names are one argument that takes many. */
const namesIn = (word: string | undefined): string[] => (word === undefined ? [] : [word].flat())

const bodyOf = (names: string[], { kind, description, ownedBy, runsOn, calls: called }: Draft) => ({
  is: names,
  ...(kind === undefined ? {} : { kind }),
  ...(description === undefined ? {} : { description }),
  ...(ownedBy ? { owned_by: ownedBy } : {}),
  ...(runsOn ? { runs_on: runsOn } : {}),
  ...(called ? { calls: called } : {}),
})

/** The command and its subcommands. */
export const entitiesCommand = noun('entities', 'List, show, add and remove names of one thing, joined', {
  list: verb({
    does: 'List joined entities',
    call: calls.listJoinedEntities,
    tell: (io, { entities }) => rows(ENTITIES, 'no joined entities; add one: svc entities add')(io, entities),
  }),
  show: verb({ does: 'Show one with every field', call: calls.getJoinedEntity, tell: whole }),
  add: verb({
    // biome-ignore lint/suspicious/noTemplateCurlyInString: names refer to groups so
    does: 'Join names, each label=value, or with groups: "service=(?<n>.+)" "deployment=${n}"',
    call: calls.createJoinedEntity,
    args: ['<name>', new Argument('<names...>', 'label=value')],
    options: DRAFT,
    input: ({ words: [name = '', names], flags }: GivenWords<Draft>) => ({
      body: { name, ...bodyOf(namesIn(names), flags) },
    }),
    tell: say(([name]) => `${name}: its names are read together from now on`),
  }),
  rename: verb({
    does: 'Give it another name; its names are joined as before',
    call: calls.renameJoinedEntity,
    ...toName,
    tell: say(([name, to]) => `${name} is now called ${to}`),
  }),
  remove: verb({
    does: 'Read its names apart again; no event changes',
    call: calls.deleteJoinedEntity,
    tell: say(([name]) => `${name}: removed, its names are read apart again`),
  }),
  coverage: verb({
    does: 'How many of the newest events have a joined entity, and what these names would join',
    call: calls.entityCoverage,
    args: [new Argument('[names...]', 'label=value')],
    options: [['--name <name>', 'joined entity that is edited']],
    input: ({ words: [names], flags }: GivenWords<Flags & { name?: string }>) => ({
      body: {
        ...(namesIn(names).length ? { is: namesIn(names) } : {}),
        ...(flags.name === undefined ? {} : { name: flags.name }),
      },
    }),
    tell: tellCoverage,
  }),
  neighbours: verb({
    does: 'What an entity calls, runs on and is owned by, and the other way round',
    call: calls.entityNeighbours,
    args: ['<label>', '<value>'],
    options: [['--window <window>', 'how far back', '24h']],
    input: ({ words: [label = '', value = ''], flags }: GivenWords<Flags & { window: string }>) => ({
      ...{ label, value, window: flags.window },
    }),
    tell: tellNeighbours,
  }),
})

const share = (part: number, all: number): string => `${all ? Math.round((part / all) * 100) : 0} %`

function tellCoverage(io: Io, told: EntityCoverage, { words: [names] }: GivenWords): void {
  const { events, unjoined, joins, adds, things, joined_things: joined } = told
  io.out(
    `${share(unjoined, events)} of the newest ${countWords(events, 'event has', 'events have')} no joined entity\n`,
  )
  for (const { name, entity } of told.conflicts)
    io.err(`${escapeLine(name)} is a name of ${escapeLine(entity)} already: it cannot be saved\n`)
  if (namesIn(names).length === 0) return
  io.out(`these names are on ${share(joins, events)}, ${share(adds, events)} of all without one until now\n`)
  io.out(`${countWords(things, 'thing')}, ${joined} of them by two names or more\n`)
  for (const { name, entity } of told.taken)
    io.err(`${escapeLine(name)} stays with ${escapeLine(entity)}, which says it plainly\n`)
}

function tellNeighbours(
  io: Io,
  { names, neighbours, is_cut: isCut, events, traces }: EntityNeighbours,
): void {
  if (names) io.out(`${escapeLine(names.join(', '))}\n`)
  io.out(neighbours.length ? table(io, NEIGHBOURS, neighbours) : 'no neighbours found\n')
  if (isCut)
    io.err(
      `looked at its newest ${countWords(events, 'event')} and ${countWords(traces, 'trace')}; there are more\n`,
    )
}
