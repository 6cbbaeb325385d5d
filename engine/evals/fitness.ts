/** Whether a scenario is fit to tell a good agent from a bad one, as far as that is seen without running any. */
import { counted } from './counted.ts'
import type { Incident, NoisePool } from './incident.ts'
import { namedBy, TRIVIAL } from './scripted.ts'
import { truthOf } from './truth.ts'
import { type Loaded, loadedWith, ways } from './ways.ts'

/** A fact that so much of all other events matches is told by noise. */
const COMMON = 0.01

/** What is wrong with a scenario by itself, before any agent looks at it. @param count of background events around it */
export function statedFaults(incident: Incident, noise: NoisePool, count: number): string[] {
  const { truth, events } = incident
  const faults: string[] = []
  const loaded = loadedWith(incident, noise, count)
  const own = new Set(counted(events).map(keyOf))
  const noiseIds = loaded.events.filter((event) => !own.has(keyOf(event))).map((event) => event.id)
  for (const { id, events } of truthOf(loaded, truth).facts) {
    if (events.size === 0) faults.push(`no event is of the fact ${id}`)
    if (noiseIds.filter((event) => events.has(event)).length > COMMON * noiseIds.length)
      faults.push(`noise alone is of the fact ${id}`)
  }
  const roots = truth.facts.filter(({ role, weak }) => role === 'root' && !weak)
  if ((truth.outcome ?? 'finding') === 'finding' && roots.length === 0)
    faults.push('a finding is expected, and no fact has the role root')
  return faults
}

/** Tokens of a first message. */
const BUDGET = 6_000

/** Scripted agents that guess and are right, by the first message alone: no engine is opened for it. */
export function guessedFaults(incident: Incident): string[] {
  const loaded = loadedWith(incident, {}, 0)
  const causes = truthOf(loaded, incident.truth).causes
  const message = `for service=${loaded.entity} at its firing\n${ways.brief(loaded, BUDGET)}`
  return TRIVIAL.flatMap((script) => {
    const named = namedBy(script, message)
    const isRight = causes.length > 0 && causes.every(({ events }) => named.some((id) => events.has(id)))
    return isRight ? [`${script} finds the cause, which knows nothing`] : []
  })
}

const keyOf = ({ source, t, text }: Omit<Loaded['events'][number], 'id'>): string =>
  `${source}\0${t}\0${text}`
