/**
 * What is declared and set, held on a store by the roles that have one: the writer with all that a write does
 * beside its rows, a reader on a connection that cannot write, and a rehearsal of drafts.
 */
import { openCatalog } from '../catalog/catalog.ts'
import type { Clock } from '../clock.ts'
import { createCredentials } from '../credentials/credentials.ts'
import { type DeclaredParts, openDeclared } from '../declared/declared.ts'
import type { DocumentsWriter } from '../documents-writer.ts'
import type { Figures } from '../figures.ts'
import { openPositions } from '../graph/positions.ts'
import { createKeys } from '../keys/keys.ts'
import type { ModelEnvironment } from '../models/environment.ts'
import { openStoredModels } from '../models/open.ts'
import { openTemplates } from '../projects/templates.ts'
import { carriedOf, recentOf } from '../recent.ts'
import type { Secrets } from '../secrets.ts'
import { emptySlackEnvironment, type SlackEnvironment } from '../slack/environment.ts'
import { openSlackSettings } from '../slack/settings.ts'
import { createSources } from '../sources/sources.ts'
import type { StoreHandle } from '../store/handle.ts'
import type { Tallies } from '../tallies.ts'
import type { ReadContext } from '../timeline/context.ts'
import type { TracingEnvironment } from '../tracing/environment.ts'
import { openStoredTracing } from '../tracing/settings.ts'

/** What an instance is started with, as far as what is declared and set depends on it. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  models: ModelEnvironment | undefined
  tracing: TracingEnvironment | undefined
  slack: SlackEnvironment | undefined
}

/** What a write of what is declared does beside its rows. */
export interface Effects extends Pick<DeclaredParts, 'purge' | 'gone' | 'changed'> {
  documents: DocumentsWriter['replace']
  /** A key was revoked. */
  revoked(key: string): void
}

export interface HeldParts {
  store: StoreHandle
  clock: Clock
  ctx: ReadContext
  secrets: Secrets
  figures: Figures
  tallies: Tallies
  surroundings: Surroundings
  effects: Effects
  /** Why nothing is stored, in words; null: it is. */
  storageReason(): string | null
}

export type Held = ReturnType<typeof openHeld>

/** Opens it; what is asked of events is asked of `ctx`. */
export function openHeld({
  store,
  clock,
  ctx,
  secrets,
  figures,
  tallies,
  surroundings,
  effects,
  storageReason,
}: HeldParts) {
  const { env, models, tracing, slack = emptySlackEnvironment } = surroundings
  const keys = createKeys({ store, clock, onRevoked: effects.revoked })
  const credentials = createCredentials({ store, secrets, clock })
  const sources = createSources({
    ...{ store, clock, secrets, credentials, keys, env, figures, storageReason },
    documents: { replace: effects.documents },
    recent: (sourceId, limit) => recentOf(ctx, sourceId, limit),
    carried: (sourceId, limit) => carriedOf(ctx, sourceId, limit),
  })
  const { purge, gone, changed } = effects
  const declared = openDeclared({
    ...{ store, clock, secrets, keys, sources, env, purge, gone, changed },
    templates: openTemplates(),
  })
  return {
    ...{ ctx, declared, keys, credentials, sources, secrets },
    catalog: openCatalog(declared),
    positions: openPositions(store, clock),
    stored: openStoredModels(store, secrets, clock, tallies, models),
    slack: openSlackSettings({ store, secrets, clock, env: slack }),
    tracing: openStoredTracing(store, secrets, clock, tracing),
  }
}
