/** What a project does, in sentences (SPEC.md, Project: the project page). */
import type { ProjectOutline, SkillSpec, TriggerSpec } from '../../schemas/types.ts'
import { cooldownSentence, sentenceOf } from '../../schemas/words.ts'
import { fail } from '../errors.ts'
import type { ProjectDoc } from '../wiring/project-doc.ts'
import { wiringOf } from '../wiring/wires.ts'
import { belongings } from './belonging.ts'
import type { Declared } from './declared.ts'
import { skillLoads } from './skill-loads.ts'
import { requireProject } from './skill-writes.ts'

/** @throws SvcError not_found */
export function outlineOf(declared: Declared, word: string): ProjectOutline {
  const doc = docOf(declared, word)
  const { wakes, handoffs } = wiringOf(doc)
  const watches = watchesOf(declared, doc)
  const triggers = names(doc, 'trigger').map((name) => ({
    name,
    spec: specOf<TriggerSpec>(declared, 'trigger', name),
  }))
  const loadedBy = skillLoads(declared.store.db, requireProject(declared, word), declared.clock.now())
  const woken = wokenAgents(declared, doc)
  const agents = names(doc, 'agent').map((name) => {
    const mine = wakes.filter((wake) => wake.agent === name)
    const to = handoffs.filter((row) => row.to === name)
    const runs_on = mine.length ? 'trigger' : to.length ? 'handoff' : 'nothing'
    return {
      name,
      sentence: agentSentence(
        mine.map((wake) => wake.trigger),
        to,
      ),
      enabled: woken.has(name),
      runs_on,
      handoffs: handoffs
        .filter((row) => row.agent === name)
        .map(({ verdict, to: agent, cooldown }) => ({ verdict, agent, ...(cooldown ? { cooldown } : {}) })),
    }
  })
  return {
    sentence: projectSentence(doc, watches.length, triggers, woken),
    watches,
    wakes: triggers.map(({ name, spec }) => ({
      trigger: name,
      sentence: sentenceOf(spec),
      cooldown_sentence: cooldownSentence(spec),
      paused: spec.paused ?? false,
    })),
    agents,
    skills: names(doc, 'skill').map((name) => ({
      name,
      description: specOf<SkillSpec>(declared, 'skill', name).description,
      loaded_by: loadedBy(name),
    })),
  }
}

/** The sources of a project and how each is doing. */
export function watchesOf({ sources, ...declared }: Declared, doc: ProjectDoc): ProjectOutline['watches'] {
  const belongs = belongings({ sources, ...declared })
  const mine = new Set(names(doc, 'source'))
  return sources
    .list((name) => belongs('source', name))
    .filter(({ name }) => mine.has(name))
    .map(({ name, connector, mode, health }) => ({
      source: name,
      title: name,
      connector,
      description: `${connector}, ${mode}`,
      state: stateOf(health.status, health.last_ingest, mode),
      last_event_at: health.last_ingest,
      detail: health.reason,
    }))
}

function stateOf(status: string, lastIngest: string | null, mode: string): string {
  if (status === 'paused') return 'paused'
  if (status === 'error' || status === 'refused') return 'error'
  return lastIngest === null && mode !== 'reference' ? 'waiting' : 'receiving'
}

/** Agents that something wakes: a trigger that is on, or a handoff from one of them; the first kind first. */
export function wokenAgents(
  { kinds }: Declared,
  doc: ProjectDoc,
): ReadonlyMap<string, 'trigger' | 'handoff'> {
  const { wakes, handoffs } = wiringOf(doc)
  const isOn = (trigger: string) => kinds.trigger.find(trigger)?.doc.paused !== true
  const woken = new Map<string, 'trigger' | 'handoff'>()
  for (const { trigger, agent, enabled } of wakes) if (enabled && isOn(trigger)) woken.set(agent, 'trigger')
  for (let known = -1; known !== woken.size; ) {
    known = woken.size
    for (const { agent, to } of handoffs) if (woken.has(agent) && !woken.has(to)) woken.set(to, 'handoff')
  }
  return woken
}

function projectSentence(
  doc: ProjectDoc,
  sources: number,
  triggers: readonly { name: string; spec: TriggerSpec }[],
  woken: ReadonlyMap<string, 'trigger' | 'handoff'>,
): string {
  if (sources + triggers.length + names(doc, 'agent').length === 0) return 'Nothing is in this project yet.'
  const watches = sources ? `Watches ${count(sources, 'source')}` : 'Watches no source yet'
  if (triggers.length === 0) return `${watches}; nothing wakes an agent yet.`
  const wakesOne = ({ name }: { name: string }) =>
    Object.values(doc.wakes?.[name] ?? {}).some(({ enabled }) => enabled)
  // What wakes someone is told; the others are counted.
  const told = triggers.find((trigger) => wakesOne(trigger) && !trigger.spec.paused) ?? triggers[0]!
  const first = sentenceOf(told.spec).replace(/^[WE]/, (letter) => letter.toLowerCase())
  const more = triggers.length > 1 ? ` (and ${triggers.length - 1} more)` : ''
  const by = (how: 'trigger' | 'handoff') => [...woken].filter(([, one]) => one === how).map(([name]) => name)
  const [lookers, taking] = [by('trigger').sort(), by('handoff').sort()]
  const wakes = lookers.length ? `wakes ${list(lookers)}` : 'wakes no agent yet'
  return `${watches}; ${first}${more}, ${wakes}${taking.length ? `, handing over to ${list(taking)} on their verdicts` : ''}.`
}

function agentSentence(
  triggers: readonly string[],
  to: readonly { agent: string; verdict: string; cooldown?: string }[],
): string {
  const parts: string[] = []
  if (triggers.length) parts.push(`looks first when ${list(triggers)} fires`)
  for (const { agent, verdict, cooldown } of to)
    parts.push(
      `digs in when ${agent} concludes ${verdict}${cooldown ? `, at most once every ${cooldown}` : ''}`,
    )
  return parts.length ? parts.join('; ') : 'is woken by nothing yet'
}

const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`
const list = (words: readonly string[]): string =>
  words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
const names = (doc: ProjectDoc, kind: keyof ProjectDoc['uses']): string[] =>
  Object.keys(doc.uses[kind] ?? {}).sort()

function docOf(declared: Declared, word: string): ProjectDoc {
  return declared.kinds.project.find(requireProject(declared, word))!.doc
}

function specOf<T>({ kinds }: Declared, kind: 'trigger' | 'skill', name: string): T {
  const stored = kinds[kind].find(name) ?? fail('not_found', `no ${kind} is named ${name}`)
  return stored.doc as T
}
