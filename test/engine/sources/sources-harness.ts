/** Sources over a store in memory, with what surrounds them in the test's hands. */

import type { Caller } from '../../../engine/calls.ts'
import { type Declared, openDeclared, type WriteBy } from '../../../engine/declared/declared.ts'
import { createKeys } from '../../../engine/declared/keys.ts'
import { belongings } from '../../../engine/declared/operations.ts'
import { listDependents } from '../../../engine/declared/projects/outline.ts'
import {
  createSource,
  deleteSource,
  memorySource,
  moveSource,
  updateSource,
} from '../../../engine/declared/source-writes.ts'
import { Figures } from '../../../engine/log/figures.ts'
import { createDocumentsWriter } from '../../../engine/log/retention.ts'
import { Appender } from '../../../engine/log/store/append.ts'
import { Stamp } from '../../../engine/log/store/writer-state.ts'
import { createReadContext } from '../../../engine/log/timeline/context.ts'
import { memorySecrets, type Secrets } from '../../../engine/net/secrets.ts'
import type { RecentEvent } from '../../../engine/sources/sample.ts'
import { createSources } from '../../../engine/sources/sources.ts'
import type { SourceWrite } from '../../../schemas/types.ts'
import { ME, openTestStore } from '../open-test-store.ts'

/** The mask of a secret. */
export const MASK = '••••••••'

/** None is stored. */
const NO_CREDENTIALS = {
  names: () => [],
  has: () => false,
  find: (name: string) => `no credential is named ${name}`,
}

export function openSources(secrets: Secrets = memorySecrets()) {
  const test = openTestStore()
  const { store, clock } = test
  const { dictionary, index } = createReadContext(store.db, true, 'secret')
  const keys = createKeys(test)
  const world = {
    /** What `recent` gives, newest first. */
    recent: [] as RecentEvent[],
    purged: [] as number[],
    storageReason: null as string | null,
    failPurge: false,
    /** What `${NAME}` in a secret field refers to. */
    env: {} as Record<string, string>,
  }
  const parts = {
    store,
    clock,
    secrets,
    keys,
    env: world.env,
    documents: createDocumentsWriter(
      store,
      new Appender(store.db, dictionary, index.tail),
      new Stamp(clock, 0),
    ),
    carried: () => [],
    recent: (_sourceId: number, limit: number) => world.recent.slice(0, limit),
    storageReason: () => world.storageReason,
    credentials: NO_CREDENTIALS,
  }
  const open = (secretsOfRun: Secrets) => {
    const live = createSources({ ...parts, figures: new Figures(), secrets: secretsOfRun })
    const declared = openDeclared({
      ...parts,
      secrets: secretsOfRun,
      sources: live,
      templates: NO_TEMPLATES,
      gone: () => {},
      back: () => {},
      changed: () => {},
      modelFaults: () => [],
      purge: (sourceId) => {
        if (world.failPurge) throw new Error('disk')
        world.purged.push(sourceId)
        return 3
      },
    })
    return sourcesOf(declared)
  }
  const sources = open(secrets)
  return {
    ...test,
    keys,
    world,
    sources,
    /** The same store as after a restart. */
    reopen: (other = secrets) => open(other),
    create: (name: string, body: Partial<SourceWrite> = {}, mintKey = false) =>
      sources.create({ name, connector: 'webhook', ...body }, ME, mintKey),
    update: (name: string, body: Partial<SourceWrite> = {}) =>
      sources.update(name, { name, connector: 'webhook', ...body }, ME),
    remove: (name: string, purgeEvents = false) => sources.remove(name, { cascade: false, purgeEvents }, ME),
    /** Texts of the documents a read would surface, and of those it no longer does. */
    documents: () => {
      const texts = (where: string) =>
        store.db.prepare(`SELECT text FROM documents WHERE superseded_at ${where} ORDER BY id`).pluck().all()
      return { current: texts('IS NULL'), past: texts('IS NOT NULL') }
    },
    /** Every stored byte of sources and keys, to look for what must not be there. */
    stored: () =>
      JSON.stringify([
        store.db.prepare('SELECT * FROM sources').all(),
        store.db.prepare('SELECT * FROM keys').all(),
        store.db.prepare('SELECT * FROM history').all(),
      ]),
  }
}

const NO_TEMPLATES = { all: () => [], get: () => undefined, secretParams: () => [] }
const by = (caller: Caller): WriteBy => ({ caller, origin: 'api' })

/** The sources with their writes, by a caller. */
function sourcesOf(declared: Declared) {
  const { sources } = declared
  const belongs = (name: string) => belongings(declared)('source', name)
  return {
    ...sources,
    list: () => sources.list(belongs),
    get: (name: string) => sources.get(name, belongs),
    create: (body: SourceWrite, caller: Caller, mintKey: boolean) =>
      createSource(declared, body, by(caller), mintKey),
    update: (name: string, body: SourceWrite, caller: Caller) =>
      updateSource(declared, name, body, by(caller)),
    remove: (name: string, how: { cascade: boolean; purgeEvents: boolean }, caller: Caller) =>
      deleteSource(declared, name, how, by(caller)),
    move: (name: string, event: 'pause' | 'resume', caller: Caller) =>
      moveSource(declared, name, event, by(caller)),
    memorySource: (name: string | undefined, caller: Caller) => memorySource(declared, name, by(caller)),
    dependents: (kind: string, name: string) => listDependents(declared, kind, name),
  }
}

/** An event as `recent` gives it. */
export function recentEvent(
  payload: unknown,
  labels: RecentEvent['labels'] = {},
  entity: RecentEvent['entity'] = null,
): RecentEvent {
  return { raw: Buffer.from(JSON.stringify(payload)), labels, entity }
}
