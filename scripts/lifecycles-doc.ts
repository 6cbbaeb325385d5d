/**
 * docs/lifecycles.md, drawn from the machines: of each a Mermaid state diagram, and its states
 * and events in words. `npm run generate` writes it; test/machines/lifecycles-doc.test.ts fails when it
 * is stale.
 */
import { type Kind, lifecycles } from '../machines/index.ts'
import { type Lifecycle, start } from '../machines/step.ts'

type State = Lifecycle['machine']['states'][string]

const ABOUT: Record<Kind, { title: string; text: string }> = {
  source: { title: 'Source', text: 'What takes events in.' },
  key: { title: 'Key', text: 'An API key. Revoking is for good.' },
  trigger: { title: 'Trigger', text: 'What watches sources and fires.' },
  agent: { title: 'Agent', text: 'Whether it is woken is said by the wiring of each project.' },
  mcp_server: { title: 'MCP server', text: 'A server whose tools agents may use.' },
  skill: { title: 'Skill', text: 'It exists as long as a project uses it.' },
  project: {
    title: 'Project',
    text: 'Set up by guided setup it is at a step (connect, try, done) and runs as well. A crew or a person may hold it in any state.',
  },
  ownership: {
    title: 'Ownership',
    text: 'What became of an object that a template planned for its project. A hand-assembled project has no plan.',
  },
  draft: {
    title: 'Draft',
    text: 'How the plan of guided setup comes about, in the background. At most three rounds of fixing follow a check.',
  },
  run: {
    title: 'Run',
    text: 'One run of an agent. A rerun of one that has ended is a new run.',
  },
  firing: {
    title: 'Firing',
    text: 'A trigger that tripped. Without a storm rule it begins fired.',
  },
  delivery: {
    title: 'Delivery',
    text: 'One firing, or one finding, to one subscriber, at least once. A pending delivery is shown as running.',
  },
  incident: {
    title: 'Incident',
    text: 'The firings of one trigger for one key, from the first until it is handled. A firing after that opens a new one.',
  },
  handoff: {
    title: 'Handoff',
    text: 'One agent hands over to another on the same entity. A chain has three at most.',
  },
  proposal: {
    title: 'Proposal',
    text: 'A change that a credential may plan and not make. A person decides.',
  },
  catalog_sync: {
    title: 'Catalog sync',
    text: 'The sync of the catalog with a git repository. A look goes from fetching to what it came to.',
  },
  ask_turn: {
    title: 'Ask turn',
    text: 'One question to Ask. A start ends those that a stop came between as failed.',
  },
}

/** @returns the whole file. */
export function renderLifecycles(): string {
  const kinds = Object.keys(lifecycles) as Kind[]
  return [
    '# Lifecycles',
    'Drawn from `machines/` by `npm run generate`: do not edit.',
    'An event that a state does not take is answered 409, naming the state and what it takes; whatever is read says in `accepts` what it takes now. A label in brackets is a condition: the first that holds decides, and `[otherwise]` is what is left.',
    ...kinds.map((kind) => renderLifecycle(kind, lifecycles[kind])),
  ]
    .join('\n\n')
    .concat('\n')
}

function renderLifecycle(kind: Kind, lifecycle: Lifecycle): string {
  const states = Object.values(lifecycle.machine.states) as State[]
  return [
    `## ${ABOUT[kind].title}`,
    `${ABOUT[kind].text} Machine version ${lifecycle.version}.`,
    `\`\`\`mermaid\n${diagramOf(lifecycle)}\n\`\`\``,
    table(
      ['State', 'In words', 'Takes'],
      states.map((state) => [
        words(state.key),
        sentence(state.description ?? ''),
        Object.keys(state.on)
          .map((event) => words(event))
          .join(', ') || 'nothing more',
      ]),
    ),
    table(
      ['Event', 'In words'],
      Object.entries(lifecycle.events).map(([event, text]) => [words(event), sentence(text)]),
    ),
  ].join('\n\n')
}

/** @returns a Mermaid state diagram; events between the same two states share an arrow. */
export function diagramOf(lifecycle: Lifecycle): string {
  const arrows = new Map<string, string[]>()
  const states = Object.values(lifecycle.machine.states) as State[]
  for (const state of states)
    for (const [event, branches] of Object.entries(state.on))
      for (const [index, branch] of branches.entries()) {
        const arrow = `${state.key} --> ${branch.target?.[0]?.key ?? state.key}`
        const guard = typeof branch.guard === 'string' ? branch.guard : index > 0 ? 'otherwise' : ''
        arrows.set(arrow, [...(arrows.get(arrow) ?? []), words(event) + (guard ? ` [${words(guard)}]` : '')])
      }
  return [
    'stateDiagram-v2',
    ...states.filter(({ key }) => key.includes('_')).map(({ key }) => `  state "${words(key)}" as ${key}`),
    `  [*] --> ${start(lifecycle).value}`,
    ...[...arrows].map(([arrow, labels]) => `  ${arrow}: ${labels.join(', ')}`),
    ...states.filter(({ type }) => type === 'final').map(({ key }) => `  ${key} --> [*]`),
  ].join('\n')
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const words = (name: string): string => name.replaceAll('_', ' ')
const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`
