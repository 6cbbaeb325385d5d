/** What findings need of the rest of the engine: agents, projects, labels, and the way in. */
import type { IngestResult, Label } from '../schemas/types.ts'
import type { Declared } from './declared/declared.ts'
import { makeFindingsSource } from './declared/findings-source.ts'
import type { Caller } from './engine.ts'
import { SvcError } from './errors.ts'
import { type FindingsParts, primaryOf } from './findings/findings.ts'
import { findingQueries } from './findings/queries.ts'
import { readable } from './inspect/records.ts'
import type { Ending } from './outbox/fetching.ts'
import type { InnerCall } from './pipeline.ts'
import { requireKnownAgent } from './runs/known-agent.ts'
import { setupQueries } from './setup/queries.ts'
import { answersPractice } from './setup/tryout/practice.ts'
import type { ReadContext } from './timeline/context.ts'
import { parseEventId } from './timeline/present.ts'

const SERVICE: Caller = { id: 'svc', name: 'svc' }

export function findingsParts(
  declared: Declared,
  ctx: ReadContext,
  accept: (call: InnerCall) => IngestResult | SvcError,
  ending: Ending,
): FindingsParts {
  const { sources, projects, clock, store } = declared
  return {
    clock,
    ending,
    queries: findingQueries(store.db),
    requireKnownAgent: (name) => requireKnownAgent(store.db, name),
    isAgent: (name) => declared.kinds.agent.find(name) !== undefined,
    entityLabels: (project) =>
      sources
        .live()
        .filter(({ name }) => projects.users('source', name).includes(project))
        .flatMap(({ config }) => primaryOf((config.labels ?? []) as Label[]) ?? []),
    isKnownLabel: (name, value) => ctx.dictionary.find(name, value) !== undefined,
    events: (ids, project) => {
      const numbers = ids.flatMap((id) => parseEventId(id) ?? [])
      return readable(ctx, project === null ? [] : [project], numbers)
    },
    answersPractice: (project, writer) => answersPractice(declared, project, writer),
    practiceAnswered: (project, run) => void setupQueries(store.db).found(project, run),
    append: async (item, alongside) => {
      const answer = accept({
        ingestKey: findingsSource(declared),
        body: Buffer.from(JSON.stringify(item)),
        bypassCooldown: false,
        caller: SERVICE.id,
        alongside,
      })
      if (answer instanceof SvcError) throw answer
    },
  }
}

/** The source findings are written to, made with the first. @returns its ingest key. */
function findingsSource(declared: Declared): string {
  const known = declared.sources.live().find(({ connector }) => connector.kind === 'finding')
  return known?.ingestKey ?? declared.sources.requireByName(makeFindingsSource(declared)!).ingestKey
}
