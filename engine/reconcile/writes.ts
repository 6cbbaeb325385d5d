/** The steps of a look as rows: each moves the machine, and what is told of it is stored in the same transaction. */
import type {
  CatalogCommit,
  CatalogImported,
  CatalogPullRequest,
  CatalogRepository,
  CatalogRepositoryWrite,
  CatalogSyncEntry,
  IngestResult,
} from '../../schemas/types.ts'
import type { CatalogFiles } from '../declared/catalog/catalog.ts'
import type { Declared } from '../declared/declared.ts'
import { makeOwnSource } from '../declared/source-writes.ts'
import { fail, SvcError } from '../errors.ts'
import type { Tallies } from '../log/figures.ts'
import { firstSnapshot, move } from '../log/lifecycle.ts'
import type { InnerCall } from '../log/pipeline.ts'
import { openSettings } from '../log/settings.ts'
import type { CredentialLookup } from '../model/credentials.ts'
import { nameOfRepository } from './git.ts'
import { changesIn, driftedIn, modesOf, type Outcome } from './plan.ts'
import {
  countsTold,
  type FetchedCommit,
  type HistoryRow,
  type Settled,
  type SyncPort,
  type SyncRow,
  syncRows,
  type ToApply,
} from './port.ts'

const AT_WORK = ['fetching', 'planning', 'applying']
/** Parts of a commit that are stored by name. */
const PARTS_MAX = 20_000
const NOBODY = 'svc'

export interface SyncWritesParts {
  declared: Declared
  catalog: CatalogFiles
  credentials: CredentialLookup
  tallies: Tallies
  /** The way in of events: one transaction, in which the call may write rows of its own. */
  accept(call: InnerCall): IngestResult | SvcError
}

/** The setting that names the repository where the environment names none. */
const REPOSITORY_SETTING = 'catalog_repository'

export function syncWrites(parts: SyncWritesParts): SyncPort {
  const writer = new SyncWriter(parts)
  const settings = openSettings(parts.declared.store, parts.declared.clock)
  return {
    followRepository: async (repository) => writer.follow(repository),
    beginSync: async () => writer.begin(),
    fetchedCommit: async (fetched) => writer.fetched(fetched),
    settleSync: async (settled) => writer.settle(settled),
    beginApply: async () => writer.beginApply(),
    applyCommit: async (toApply) => writer.apply(toApply),
    unreportedSync: async (credential) => writer.unreported(credential),
    reportedSync: async (entry) => writer.reported(entry),
    repositorySetting: async () => settings.get<CatalogRepositoryWrite>(REPOSITORY_SETTING) ?? null,
    saveRepositorySetting: async (setting) => settings.put(REPOSITORY_SETTING, setting ?? undefined),
    notePullRequest: async (pullRequest) => writer.notePullRequest(pullRequest),
  }
}

class SyncWriter {
  private readonly rows: ReturnType<typeof syncRows>

  constructor(private readonly parts: SyncWritesParts) {
    this.rows = syncRows(parts.declared.store.db)
  }

  follow(repository: CatalogRepository | null): void {
    const { store } = this.parts.declared
    const row = this.rows.find()
    if (!repository && !row?.isFollowed) return
    store.tx(() => {
      if (!row) this.rows.make(repository!, firstSnapshot('catalog_sync'))
      else {
        if (AT_WORK.includes(row.state)) this.move('interrupt')
        if (repository && isOther(row.settings, repository)) {
          this.move('follow')
          this.rows.save({ ...FORGOTTEN })
        }
        this.rows.save({ isFollowed: repository !== null, ...(repository ? { settings: repository } : {}) })
      }
      if (repository) makeOwnSource(this.parts.declared, 'catalog')
    })
  }

  begin() {
    const { store, clock, changes } = this.parts.declared
    const row = this.require()
    store.tx(() => {
      this.move('look')
      this.rows.save({ lookedAt: clock.now(), nextAt: null })
    })
    const { head, target, applied, catalogs, outcome, plannedVersion, code, reason } = row
    const isPlanned = outcome !== null && plannedVersion !== null
    return {
      ...{ head, target, applied, catalogs, version: changes.version() },
      planned: isPlanned
        ? {
            commit: outcome.commit.id,
            version: plannedVersion,
            code,
            reason,
            changes: changesIn(outcome),
            prune: outcome.prune,
          }
        : null,
    }
  }

  fetched({ head, target }: FetchedCommit): void {
    const { store, clock } = this.parts.declared
    store.tx(() => {
      this.move('fetched')
      this.rows.save({ head, target, fetchedAt: clock.now() })
    })
  }

  settle(settled: Settled): void {
    const { declared, catalog, tallies } = this.parts
    const row = this.require()
    const { outcome, commit, planned, nextAt } = settled
    const isApplied = outcome === 'matches' || (outcome === 'differs' && settled.isApplied === true)
    const code = outcome === 'matches' ? null : settled.code
    const reason = outcome === 'matches' ? null : settled.reason
    const told = {
      failed: 'failed',
      matches: 'applied',
      differs: code === 'drifted' ? 'drifted' : 'held',
    } as const
    // What holds on is told once; after it passed, again.
    const [newest] = this.rows.history(1)
    const isSame = newest?.outcome === told[outcome] && newest.commit?.id === commit?.id && row.code === code
    const isNew = outcome !== 'matches' && !isSame
    const entry = {
      ...this.entry(row, told[outcome], { commit, by: NOBODY, code, reason: reason ?? WAITS }),
      // What waits is told with what it would do, also where the plan of an earlier look is.
      ...countsIn(outcome === 'failed' ? null : (planned ?? row).outcome?.plan),
    }
    this.tell(isNew ? [entry] : [], row, () => {
      this.move(outcome === 'failed' ? 'fail' : outcome)
      // A commit that says what is there, such as one of what was changed by hand, is what was applied last.
      if (isApplied && planned?.apply && row.applied?.id !== commit?.id)
        catalog.remember(planned.apply.texts, planned.apply.read ?? undefined)
      this.rows.save({
        ...{ code, reason, nextAt },
        ...(planned && commit ? stored(planned, commit) : {}),
        ...(isApplied
          ? {
              // What it was opened for is in the files.
              pullRequest: null,
              applied: commit,
              ...(row.applied?.id === commit?.id ? {} : { appliedAt: declared.clock.now(), changeSet: null }),
            }
          : {}),
        ...(isApplied && planned?.apply ? { catalogs: union(row.catalogs, planned.apply.names) } : {}),
      })
    })
    tallies.add('catalog_looks', {
      outcome: outcome === 'matches' ? 'synced' : outcome === 'differs' ? 'out_of_sync' : 'failed',
    })
  }

  beginApply(): void {
    this.parts.declared.store.tx(() => this.move('apply'))
  }

  apply(toApply: ToApply): CatalogImported {
    const { declared, catalog, tallies } = this.parts
    const { commit, planned, how, by, why, isRollback, isDrifted, nextAt } = toApply
    const row = this.require()
    const { outcome, apply } = planned
    if (!apply || !outcome.plan)
      return fail('invalid', `commit ${short(commit)} has problems and cannot be applied`)
    const counts = countsIn(outcome.plan)
    const told: Omit<HistoryRow, 'id'>[] = [
      ...(isDrifted
        ? [
            {
              ...this.entry(row, 'drifted', { commit, by: NOBODY, code: 'drifted', reason: DRIFTED }),
              ...counts,
            },
          ]
        : []),
      {
        ...this.entry(row, isRollback && !isDrifted ? 'rolled_back' : 'applied', {
          commit,
          by: by.caller.name,
          code: null,
          reason: why,
        }),
        ...counts,
      },
    ]
    let imported: CatalogImported | null = null
    this.tell(told, row, (history) => {
      const done = catalog.import(
        {
          ...apply.texts,
          ...{
            prune: how.prune,
            fingerprint: outcome.fingerprint!,
            why: whyOf(commit, { why, isRollback, isDrifted }),
          },
          ...(how.maxDeletions === undefined ? {} : { max_deletions: how.maxDeletions }),
          ...(how.allowEmpty ? { allow_empty: true } : {}),
          ...(how.merge ? { merge: true, ...how.merge } : {}),
        },
        { ...by, origin: 'catalog' },
        apply.read ?? undefined,
        modesOf(how),
      )
      for (const name of apply.gone) catalog.forget(name)
      this.move('applied')
      const after = afterwards(planned)
      const names = how.prune ? apply.names : union(row.catalogs, apply.names)
      this.rows.save({
        ...{
          code: null,
          reason: null,
          nextAt,
          applied: commit,
          appliedAt: declared.clock.now(),
          changeSet: done.change_set,
        },
        ...{ catalogs: names, target: isRollback ? commit : null },
        ...stored(after, commit),
        // What stays as it was changed by hand is told by the next look.
        plannedVersion: driftedIn(after.outcome).length ? null : declared.changes.version(),
      })
      history.at(-1)!.changeSet = done.change_set
      imported = done
    })
    tallies.add('catalog_looks', { outcome: 'applied' })
    return imported!
  }

  unreported(name: string) {
    const entry = this.rows.unreported()
    if (!entry) return null
    const credential = this.parts.credentials.find(name)
    return typeof credential === 'string' ? null : { entry, credential }
  }

  reported(entry: number): void {
    this.parts.declared.store.tx(() => this.rows.reported(entry, this.parts.declared.clock.now()))
  }

  notePullRequest(pullRequest: CatalogPullRequest): void {
    this.parts.declared.store.tx(() => this.rows.save({ pullRequest }))
  }

  /**
   * Writes rows with the events and the history that tell of them, in one transaction.
   * @param write may fill in what is known once it has written
   */
  private tell(
    history: Omit<HistoryRow, 'id'>[],
    { settings }: SyncRow,
    write: (history: Omit<HistoryRow, 'id'>[]) => void,
  ): void {
    const { declared, accept } = this.parts
    const all = () =>
      declared.store.tx(() => {
        write(history)
        for (const entry of history) this.rows.append(entry)
      })
    const source = declared.sources.live().find(({ connector }) => connector.kind === 'catalog')
    // Somebody who paused it wants no events; the sync goes on.
    if (history.length === 0 || !source || source.paused) {
      all()
      return
    }
    const items = history.map((entry) => itemOf(entry, settings))
    const answer = accept({
      ingestKey: source.ingestKey,
      body: Buffer.from(JSON.stringify(items)),
      bypassCooldown: false,
      caller: NOBODY,
      before: all,
    })
    if (answer instanceof SvcError) throw answer
  }

  private entry(
    { settings }: SyncRow,
    outcome: CatalogSyncEntry['outcome'],
    of: Pick<HistoryRow, 'commit' | 'by' | 'code' | 'reason'>,
  ): Omit<HistoryRow, 'id'> {
    const { clock } = this.parts.declared
    return { at: clock.now(), outcome, policy: settings.policy, ...countsIn(null), changeSet: null, ...of }
  }

  private move(type: string): void {
    const { store, clock } = this.parts.declared
    move(store.db, { kind: 'catalog_sync', id: 1, name: 'catalog' }, { type, at: clock.now() })
  }

  private require(): SyncRow {
    const row = this.rows.find()
    return row?.isFollowed ? row : fail('not_found', NOT_FOLLOWED)
  }
}

export const NOT_FOLLOWED =
  'no repository is followed: name one by "svc catalog sync --repo", or set SVC_CATALOG_REPO where svc is started'
const WAITS = 'a person has to apply it'
const DRIFTED = 'the instance was changed otherwise since the commit was applied'

const FORGOTTEN = {
  ...{
    head: null,
    target: null,
    applied: null,
    appliedAt: null,
    changeSet: null,
    outcome: null,
    plannedVersion: null,
    pullRequest: null,
  },
  ...{ code: null, reason: null, lookedAt: null, fetchedAt: null, nextAt: null },
} as const

const isOther = (a: CatalogRepository, b: CatalogRepository): boolean =>
  (['address', 'path', 'ref', 'environment'] as const).some((field) => a[field] !== b[field])

const union = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])].sort()

const stored = ({ outcome, version }: ToApply['planned'], commit: CatalogCommit) => ({
  outcome: { ...outcome, parts: outcome.parts.slice(0, PARTS_MAX), commit },
  plannedVersion: version,
})

/** What a commit comes to once it is applied: all of it is as it says. */
function afterwards(planned: ToApply['planned']): ToApply['planned'] {
  const { conflicts: _none, kept: _stays, ...outcome } = planned.outcome
  const plan = { changes: [], creates: 0, updates: 0, deletes: 0, unchanged: outcome.parts.length }
  const parts = outcome.parts.map(({ action: _done, edited, ...part }) => {
    if (!edited) return { ...part, state: 'synced' as const }
    return { ...part, edited, state: part.sync === 'adopt' ? ('adopted' as const) : ('drifted' as const) }
  })
  const files = outcome.files.map((file) => ({ ...file, state: 'synced' as const, out_of_sync: 0 }))
  const unmanaged = outcome.prune ? [] : outcome.unmanaged
  return {
    ...planned,
    outcome: { ...outcome, plan, fingerprint: null, parts, files, unmanaged, problems: [], refused: false },
  }
}

export const short = ({ id }: Pick<CatalogCommit, 'id'>): string => id.slice(0, 10)

/** For the record of changes, which is searched by it. */
function whyOf(
  commit: CatalogCommit,
  { why, isRollback, isDrifted }: Pick<ToApply, 'why' | 'isRollback' | 'isDrifted'>,
): string {
  const did = isRollback ? 'roll back to commit' : isDrifted ? 'drift healed by commit' : 'commit'
  const said = `${did} ${short(commit)} of ${commit.author}: ${commit.message}`
  return (why ? `${why} (${said})` : said).slice(0, 500)
}

/** What the event of an entry holds. */
const itemOf = (entry: Omit<HistoryRow, 'id'>, settings: CatalogRepository) => ({
  event: entry.outcome,
  repository: nameOfRepository(settings),
  ...{ address: settings.address, ref: settings.ref, path: settings.path, policy: entry.policy },
  ...(entry.commit
    ? {
        commit: entry.commit.id,
        author: entry.commit.author,
        message: entry.commit.message,
        committed_at: entry.commit.at,
      }
    : {}),
  by: entry.by,
  ...(countsTold(entry) ?? {}),
  ...(entry.code === null ? {} : { code: entry.code }),
  ...(entry.reason === null ? {} : { reason: entry.reason }),
})

/** What a plan does, in numbers; nothing where there is none. */
function countsIn(plan: Outcome['plan'] | undefined): Pick<HistoryRow, 'creates' | 'updates' | 'deletes'> {
  return { creates: plan?.creates ?? 0, updates: plan?.updates ?? 0, deletes: plan?.deletes ?? 0 }
}
