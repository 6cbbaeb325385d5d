/**
 * A look, from the clock, a push or a person to what it came to: fetch, plan, and apply where policy or person says so.
 * One at a time. It keeps nothing that is not a row or can be fetched again.
 */
import type {
  CatalogAdoption,
  CatalogCommit,
  CatalogPullRequestAsk,
  CatalogPullRequestOpened,
  CatalogPushTaken,
  CatalogSync,
  CatalogSyncAsk,
} from '../../schemas/types.ts'
import type { Clock, Timers } from '../clock.ts'
import { refuseConflicting } from '../declared/catalog/apply.ts'
import type { WriteBy } from '../declared/declared.ts'
import { fail, SvcError } from '../errors.ts'
import { oneLine } from '../log/ingest/label.ts'
import { createWorkerLoop, settled } from '../log/worker-loop.ts'
import type { UsableCredential } from '../model/credentials.ts'
import type { Egress } from '../net/fetch.ts'
import type { GithubTokens } from '../net/github-app.ts'
import { type Secret, storedFault } from '../net/redact.ts'
import { repoOf } from '../sources/upstreams/github-api.ts'
import { adoptedFile, branchOf, pushChanges, refuseAdopting, writtenBy } from './adoption.ts'
import { type FaultCode, nameOfRepository, type Repository, RepositoryFault, shownOf } from './git.ts'
import { type Access, credentialFaultOf, Mirror, type PushRequest, takePush } from './mirror.ts'
import {
  asksOtherwise,
  type CommitTexts,
  changesIn,
  driftedIn,
  type HowApplied,
  type Outcome,
  type PlannedCommit,
} from './plan.ts'
import {
  driftText,
  outcomeShown,
  problemText,
  REASONS,
  type Settled,
  type SyncCode,
  type SyncPlace,
  type SyncPlanPort,
  type SyncPort,
  type SyncReads,
} from './port.ts'
import { createReport, openPullRequest, pullRequestText, tokenOf } from './report.ts'
import { NOT_FOLLOWED, short } from './writes.ts'

export interface ReconcilerParts {
  /** Null: none is followed. */
  repository: Repository | null
  port: SyncPort &
    SyncPlanPort & {
      catalogSync(parts: 'all' | 'differing'): Promise<CatalogSync>
      adoptionState: SyncReads['adoptionState']
      /** @throws SvcError not_found; invalid */
      credentialToAsk(name: string): Promise<UsableCredential>
    }
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  timers: Timers
  egress: Pick<Egress, 'send'>
  tokens: Pick<GithubTokens, 'use' | 'drop'>
  /** Address of the console, for links; null: not known. */
  publicUrl: string | null
  onError(error: Error): void
}

export interface Reconciler {
  calls: SyncCalls
  /** Takes up its work: what a stop came between is begun anew. */
  start(): void
  /** Cuts off what is under way; until an apply has committed nothing has changed. Never rejects. */
  stop(): Promise<void>
}

export interface SyncCalls {
  /** A look now. @throws SvcError not_found: none is followed; conflict: another plan was approved; invalid */
  syncCatalog(asked: CatalogSyncAsk, by: WriteBy): Promise<CatalogSync>
  /** What was changed by hand, as the files of the newest commit would say it. @throws SvcError not_found; upstream */
  catalogAdoption(): Promise<CatalogAdoption>
  /**
   * The same as a pull request: one branch and one pull request for each instance, however often it is asked for.
   * @throws SvcError not_found; invalid; conflict: the branch moved, or somebody else wrote to ours; upstream
   */
  openPullRequest(asked: CatalogPullRequestAsk, by: WriteBy): Promise<CatalogPullRequestOpened>
  /** A signed push: a look as soon as may be. @throws SvcError not_found; bad_signature; invalid */
  takeCatalogPush(push: PushRequest): Promise<CatalogPushTaken>
}

/** An apply whose plan was overtaken is planned again so often. */
const TRIES = 3
/** Files that include files that include files. */
const INCLUDES_DEEP = 32
/** What is under way at a stop may end within this. */
const STOP_MS = 5_000
const POLICY: WriteBy['caller'] = { id: 'catalog', name: 'the policy' }

export function createReconciler(parts: ReconcilerParts): Reconciler {
  const { repository, port, clock, timers, onError } = parts
  const stopping = new AbortController()
  const looks = repository ? new Looks(parts, repository, stopping.signal) : null
  let followed: Promise<void> | null = null
  /** One at a time, in the order in which they were asked for. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const turn = Promise.allSettled([last])
      .then(() => {
        followed ??= port.followRepository(repository && shownOf(repository)).catch((error: unknown) => {
          followed = null
          throw error
        })
        return followed
      })
      .then(run)
    last = turn
    return turn
  }
  const loop = createWorkerLoop({
    look: async () => {
      if (!looks || stopping.signal.aborted) return null
      try {
        await inTurn(() => looks.look(null, POLICY_BY))
      } catch (error) {
        if (!stopping.signal.aborted) throw error
      }
      return repository!.intervalMs
    },
    timers,
    onError,
  })
  return {
    calls: {
      syncCatalog: async (asked, by) => {
        if (!looks) return fail('not_found', NOT_FOLLOWED)
        const result = await inTurn(() => looks.look(asked, by))
        // The next look by the clock is an interval from now.
        loop.again(repository!.intervalMs)
        return result
      },
      catalogAdoption: async () =>
        looks ? looks.adoption((bring) => inTurn(bring)) : fail('not_found', NOT_FOLLOWED),
      openPullRequest: async (asked, by) =>
        looks ? inTurn(() => looks.openPullRequest(asked, by)) : fail('not_found', NOT_FOLLOWED),
      takeCatalogPush: async (push) => {
        const taken = takePush(repository, push, clock.now())
        if (taken.looks) loop.nudge()
        return taken
      },
    },
    start: () => {
      if (looks) loop.nudge()
      else void inTurn(async () => {}).catch(onError)
    },
    stop: async () => {
      stopping.abort()
      loop.stop()
      await settled([last], timers, STOP_MS)
    },
  }
}

const POLICY_BY: WriteBy = { caller: POLICY, origin: 'catalog' }

/** What a look knows of its commit. */
interface Looked {
  place: SyncPlace
  head: CatalogCommit
  commit: CatalogCommit
  isRollback: boolean
  /** The commit that was applied is no longer in the history of the branch. */
  isRewritten: boolean
}

class Looks {
  private readonly mirror: Mirror
  private isTidy = false
  /** The first look of a process plans whatever was planned before: templates and variables may be others. */
  private hasPlanned = false
  private readonly report: () => Promise<void>
  /** The commit of the look that goes on. */
  private looked: CatalogCommit | null = null

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly repository: Repository,
    private readonly signal: AbortSignal,
  ) {
    this.mirror = new Mirror(repository, parts, signal)
    this.report = createReport(parts)
  }

  /** @param asked null: by the clock. @throws SvcError for what a person asked for */
  async look(asked: CatalogSyncAsk | null, by: WriteBy): Promise<CatalogSync> {
    const { port } = this.parts
    const secrets: Secret[] = []
    requireMergeable(asked, this.repository)
    const id = asked?.commit
    // What is no commit of the branch is refused before anything begins.
    const named = id !== undefined && asked?.apply ? await this.named(id, secrets) : null
    const place = await port.beginSync()
    this.looked = null
    try {
      await this.decide(await this.read(place, named, asked, secrets), asked, by)
    } catch (error) {
      // At a stop: the next start goes on.
      if (this.signal.aborted) throw error
      await this.failed(error, secrets)
      if (asked?.apply) throw this.toldOf(error, secrets)
    }
    await this.report().catch(this.parts.onError)
    const shown = await port.catalogSync('differing')
    if (asked?.apply && asked.merge) {
      // What stays by hand makes it differ from the commit: how, a look that plans anew tells.
      this.hasPlanned = false
      return this.look({}, by)
    }
    if (asked?.apply) return shown
    const isOwn = asked?.merge || (asksOtherwise(asked) && shown.state !== 'failed')
    const of = id ?? (isOwn ? shown.head?.id : undefined)
    return of === undefined ? shown : { ...shown, ...(await this.planOf(of, asked!, place)) }
  }

  private async read(
    place: SyncPlace,
    named: CatalogCommit | null,
    asked: CatalogSyncAsk | null,
    secrets: Secret[],
  ): Promise<Looked> {
    const { mirror } = this
    const head = await this.newest(secrets)
    const before = place.applied ?? place.head
    const isRewritten = before !== null && !(await mirror.isIn(before.id, head.id))
    // A roll back holds until there is a newer commit.
    const held = place.target && place.head?.id === head.id ? place.target : null
    await this.parts.port.fetchedCommit({ head, target: held })
    const commit = named ?? (asked?.apply ? head : (held ?? head))
    this.looked = commit
    return { place, head, commit, isRewritten, isRollback: commit.id !== head.id }
  }

  /** @throws RepositoryFault */
  private async newest(secrets: Secret[]): Promise<CatalogCommit> {
    if (!this.isTidy) this.mirror.tidy()
    this.isTidy = true
    return this.mirror.bring(await this.access(secrets))
  }

  /** An earlier commit of the branch, by its hash or the beginning of it. @throws SvcError invalid; upstream */
  private async named(id: string, secrets: Secret[]): Promise<CatalogCommit> {
    try {
      const head = await this.newest(secrets)
      const commit = await this.mirror.commit(id)
      if (commit && (await this.mirror.isIn(commit.id, head.id))) return commit
    } catch (error) {
      throw this.toldOf(error, secrets)
    }
    return fail('invalid', `commit: ${id} is no commit of ${this.repository.ref}`, { field: 'commit' })
  }

  /** The plan of an earlier commit, or of other options, for whoever thinks of it; nothing of it is stored. @throws SvcError */
  private async planOf(id: string, asked: CatalogSyncAsk, place: SyncPlace): Promise<Partial<CatalogSync>> {
    const commit = await this.named(id, [])
    try {
      const { outcome } = await this.plan({ commit, place }, this.howOf(asked), false)
      const bound = outcome.refused ? { reason: outcome.problems[0]!.message } : {}
      return { planned: commit, ...outcomeShown(outcome, 'differing'), ...bound }
    } catch (error) {
      throw this.toldOf(error, [])
    }
  }

  /** @throws RepositoryFault */
  private async access(secrets: Secret[]): Promise<Access> {
    const { credential, sshKey, address } = this.repository
    if (credential !== null) {
      const found = await this.parts.port.credentialToAsk(credential).catch((error: unknown) => {
        if (!(error instanceof SvcError)) throw error
        const how = `; add it under Settings, GitHub, or by "svc credentials add ${credential}"`
        throw new RepositoryFault('credential', error.message + (error.code === 'not_found' ? how : ''))
      })
      const fault = credentialFaultOf(address, found.apiUrl)
      if (fault !== null) throw new RepositoryFault('credential', fault)
      const { token } = await tokenOf(this.parts.tokens, found, address)
      secrets.push(token)
      return { token }
    }
    return sshKey === null ? null : { sshKey }
  }

  private async decide(found: Looked, asked: CatalogSyncAsk | null, by: WriteBy): Promise<void> {
    const { port } = this.parts
    const isAsked = asked?.apply === true
    const how = this.howOf(isAsked ? asked : null)
    for (let tries = 1; ; tries++) {
      if (!isAsked && this.isKnown(found, how)) return port.settleSync(this.asKnown(found))
      const planned = await this.plan(found, how, isAsked || this.repository.policy !== 'manual')
      this.hasPlanned = true
      if (planned.outcome.conflicts?.length) {
        await port.settleSync(this.differing(found.commit, null))
        return refuseConflicting(planned.outcome.conflicts)
      }
      const settled = this.settledBy(found, planned, isAsked)
      const isDone = settled?.outcome === 'differs' && settled.isApplied === true
      const refusal = isAsked && !isDone ? refusalOf(planned.outcome, asked, settled, found.commit) : null
      if (refusal) {
        await port.settleSync(settled ?? this.differing(found.commit, planned))
        throw refusal
      }
      // What is rolled back to holds, also where there is nothing to change.
      const isHeld = isAsked && found.isRollback && settled?.outcome === 'matches'
      if (settled && !isHeld) return port.settleSync(settled)
      await port.beginApply()
      try {
        return await this.apply(found, planned, how, asked, by)
      } catch (error) {
        const isOvertaken = error instanceof SvcError && error.code === 'conflict'
        if (!isOvertaken) throw error
        await port.settleSync(this.differing(found.commit, null))
        if (asked?.fingerprint !== undefined || tries === TRIES) throw error
        await this.again(found)
      }
    }
  }

  private async apply(
    { place, commit, isRollback }: Looked,
    planned: PlannedCommit,
    how: HowApplied,
    asked: CatalogSyncAsk | null,
    by: WriteBy,
  ): Promise<void> {
    // What a policy that deletes now finds to delete was changed by nobody.
    const isNewlyPruned = how.prune && place.planned?.prune === false
    const isDrifted = !asked?.apply && place.applied?.id === commit.id && !isNewlyPruned
    // Who asks for a look applies nothing: that is the policy's.
    const who = asked?.apply ? { by, why: asked.why ?? null } : { by: POLICY_BY, why: null }
    const nextAt = this.nextAt()
    await this.parts.port.applyCommit({ commit, isRollback, isDrifted, planned, how, ...who, nextAt })
  }

  private differing(commit: CatalogCommit, planned: PlannedCommit | null): Settled {
    return { outcome: 'differs', commit, planned, code: null, reason: null, nextAt: this.nextAt() }
  }

  /** The instance changed between plan and apply: the look goes on from its fetch. */
  private async again({ head, place }: Looked): Promise<void> {
    const { port } = this.parts
    const { version, target } = await port.beginSync()
    place.version = version
    await port.fetchedCommit({ head, target })
  }

  /** Whether this commit was compared with the instance as it is now. */
  private isKnown({ place, commit, isRewritten }: Looked, { prune }: HowApplied): boolean {
    const { planned, version } = place
    if (!this.hasPlanned || !planned || isRewritten) return false
    const isSame = planned.commit === commit.id && planned.version === version && planned.prune === prune
    return (
      isSame &&
      (planned.changes === 0
        ? planned.code === null || planned.code === 'drifted'
        : this.repository.policy === 'manual')
    )
  }

  private asKnown({ place, commit }: Looked): Settled {
    const { changes, code, reason } = place.planned!
    const nextAt = this.nextAt()
    if (changes === 0 && code === null) return { outcome: 'matches', commit, planned: null, nextAt }
    const isApplied = changes === 0
    return {
      outcome: 'differs',
      commit,
      planned: null,
      code: code as SyncCode | null,
      reason,
      nextAt,
      isApplied,
    }
  }

  /** What a plan comes to; null: it is to be applied. */
  private settledBy(found: Looked, planned: PlannedCommit, isAsked: boolean): Settled | null {
    const { commit, place, isRewritten } = found
    const { outcome } = planned
    const nextAt = this.nextAt()
    const [problem] = outcome.problems
    if (!outcome.plan)
      return { outcome: 'failed', commit, planned, code: 'problems', reason: problemText(outcome), nextAt }
    const drifted = driftedIn(outcome)
    if (changesIn(outcome) === 0) {
      if (drifted.length === 0) return { outcome: 'matches', commit, planned, nextAt }
      const told = { code: 'drifted', reason: driftText(drifted), isApplied: true } as const
      return { outcome: 'differs', commit, planned, nextAt, ...told }
    }
    const differs = (code: SyncCode | null, reason = REASONS[code ?? ''] ?? null): Settled => ({
      ...{ outcome: 'differs', commit, planned, code, nextAt },
      reason,
    })
    if (outcome.refused) return differs('deletions', problem!.message)
    if (isAsked) return null
    if (isRewritten) return differs('rewritten')
    if (this.repository.policy !== 'manual') return null
    return differs(place.applied?.id === commit.id ? 'drifted' : null)
  }

  private howOf(asked: CatalogSyncAsk | null): HowApplied {
    return {
      prune: asked?.prune ?? this.repository.policy === 'auto-prune',
      ...(asked?.max_deletions === undefined ? {} : { maxDeletions: asked.max_deletions }),
      ...(asked?.allow_empty === undefined ? {} : { allowEmpty: asked.allow_empty }),
      ...(asked?.heal ? { heal: true } : {}),
      merge: asked?.merge ? { ours: asked.ours, choices: asked.choices } : null,
    }
  }

  /** @throws RepositoryFault */
  private async plan(
    { commit, place }: Pick<Looked, 'commit' | 'place'>,
    how: HowApplied,
    reads: boolean,
  ): Promise<PlannedCommit> {
    const { planned } = await this.withTexts(commit, (texts) =>
      this.parts.port.planCommit({ ...texts, ...how, remembered: place.catalogs, reads }),
    )
    return planned
  }

  /** Asks something of the texts of a commit until all that they include was given, too. @throws RepositoryFault */
  private async withTexts<T extends object>(
    commit: CatalogCommit,
    ask: (texts: CommitTexts) => Promise<{ wanted: string[] } | T>,
  ): Promise<T> {
    const { path, environment } = this.repository
    const texts = await this.mirror.texts(commit.id, path)
    if (texts.length === 0)
      throw new RepositoryFault(
        'problems',
        `commit ${short(commit)} has no catalog file at ${path || 'its root'}`,
      )
    const included: Record<string, Awaited<ReturnType<Mirror['texts']>>> = {}
    for (let level = 0; level < INCLUDES_DEEP; level++) {
      const answer = await ask({ name: nameOfRepository(this.repository), texts, included, environment })
      if (!('wanted' in answer)) return answer
      for (const one of answer.wanted) included[one] = await this.mirror.texts(commit.id, one)
    }
    throw new RepositoryFault('problems', `files include files more than ${INCLUDES_DEEP} deep`)
  }

  /** @param inTurn for what writes to the mirror. @throws SvcError */
  async adoption(
    inTurn: (bring: () => Promise<CatalogCommit>) => Promise<CatalogCommit>,
  ): Promise<CatalogAdoption> {
    const { head: read, pullRequest } = await this.parts.port.adoptionState()
    const secrets: Secret[] = []
    try {
      // Of what the last look read; the mirror is a cache, which may have been taken away.
      const isHere = read !== null && (await this.mirror.has(read.id))
      const newest = isHere ? null : await inTurn(() => this.newest(secrets))
      const head = read ?? newest!
      const { shown } = await this.adopted(head)
      return { ...shown, pull_request: pullRequest }
    } catch (error) {
      throw this.toldOf(error, secrets)
    }
  }

  private async adopted(head: CatalogCommit) {
    const { adopted } = await this.withTexts(head, (texts) => this.parts.port.adoptCommit(texts))
    const { files, held, problems, conflicts } = adopted
    const differences = await writtenBy(this.mirror, head, adopted.differences)
    const shown = {
      ...{ commit: head, files: files.map(adoptedFile), held, problems, differences },
      conflicts: conflicts.length,
    }
    return { shown, files, conflicts }
  }

  /** @throws SvcError */
  async openPullRequest(asked: CatalogPullRequestAsk, by: WriteBy): Promise<CatalogPullRequestOpened> {
    const { port, clock, egress } = this.parts
    const { credential: name, address, ref, instance } = this.repository
    const repo = repoOf(address)
    if (name === null)
      return fail(
        'invalid',
        'no credential is named: store one of GitHub, and name it in SVC_CATALOG_REPO_CREDENTIAL',
      )
    if (repo === null)
      return fail('invalid', `a pull request needs a repository of GitHub; ${address} is none`)
    const secrets: Secret[] = []
    try {
      const head = await this.newest(secrets)
      if (asked.commit !== undefined && asked.commit !== head.id)
        return fail(
          'conflict',
          `nothing was pushed: ${ref} is at commit ${short(head)} by now; look again, and see what would be written`,
          { field: 'commit' },
        )
      const { shown, files, conflicts } = await this.adopted(head)
      refuseAdopting(shown, conflicts)
      const branch = branchOf(instance)
      const access = await this.access(secrets)
      const title = `What was changed by hand on ${oneLine(instance, 60)}`
      const email = `svc@${branch.slice('svc/'.length)}.invalid`
      const commit = await pushChanges(this.mirror, access, {
        ...{ head, files, branch, message: title, atMs: clock.now() },
        author: { name: oneLine(by.caller.name, 100) || 'svc', email },
        committer: { name: 'svc', email },
      })
      const credential = await tokenOf(this.parts.tokens, await port.credentialToAsk(name), address)
      const opened = await openPullRequest({
        ...{ egress, credential, repo, branch, base: ref, title },
        body: pullRequestText(instance, shown.differences, asked.why),
      })
      const at = new Date(clock.now()).toISOString()
      const pullRequest = { ...opened.pullRequest, branch, commit, at }
      await port.notePullRequest(pullRequest)
      return { pull_request: pullRequest, existing: opened.existing, files: files.map(({ path }) => path) }
    } catch (error) {
      throw this.toldOf(error, secrets)
    }
  }

  /** A look that failed: the instance stays as it was. */
  private async failed(error: unknown, secrets: readonly Secret[]): Promise<void> {
    if (!(error instanceof RepositoryFault || error instanceof SvcError)) this.parts.onError(error as Error)
    const code: SyncCode =
      error instanceof RepositoryFault ? codeOf(error.code) : error instanceof SvcError ? 'refused' : 'git'
    const reason = this.toldOf(error, secrets).message
    const isOfCommit = code === 'problems' || code === 'refused'
    const settled: Settled = {
      outcome: 'failed',
      commit: isOfCommit ? this.looked : null,
      planned: null,
      code,
      reason,
      nextAt: this.nextAt(),
    }
    try {
      await this.parts.port.settleSync(settled)
    } catch (later) {
      // It was settled already, and what a person asked for was refused.
      if (!(later instanceof SvcError && later.code === 'wrong_state')) throw later
    }
  }

  private toldOf(error: unknown, secrets: readonly Secret[]): SvcError {
    if (error instanceof SvcError) return error
    if (error instanceof RepositoryFault) return new SvcError('upstream', storedFault(error.message, secrets))
    return new SvcError('internal', 'the look failed, which is a fault of ours; the log has more')
  }

  private nextAt(): number {
    return this.parts.clock.now() + this.repository.intervalMs
  }
}

/** @throws SvcError invalid */
function requireMergeable(asked: CatalogSyncAsk | null, { policy }: Repository): void {
  const field = asked?.ours !== undefined ? 'ours' : 'choices'
  if (!asked?.merge && (asked?.ours !== undefined || asked?.choices?.length))
    fail('invalid', `${field} needs merge: without it the commit is applied as it is`, { field })
  if (asked?.merge && policy !== 'manual')
    fail(
      'invalid',
      `merge: with the policy ${policy} the next look overwrites what stays; adopt it into the files instead`,
      { field: 'merge' },
    )
}

/** Why a person may not have this applied; null: they may. */
function refusalOf(
  outcome: Outcome,
  asked: CatalogSyncAsk,
  settled: Settled | null,
  commit: CatalogCommit,
): SvcError | null {
  const { plan, problems, fingerprint } = outcome
  if (!plan) return new SvcError('invalid', problemText(outcome), { problems })
  if (settled?.outcome === 'differs')
    return new SvcError('invalid', settled.reason ?? 'the plan may not be applied', { problems, plan })
  if (asked.fingerprint === undefined || asked.fingerprint === fingerprint) return null
  return new SvcError(
    'conflict',
    `nothing was applied: since that plan was made the repository or the instance changed, and commit ${short(commit)} would now do this`,
    { plan, fingerprint: fingerprint! },
  )
}

const codeOf = (code: FaultCode): SyncCode =>
  code === 'mirror' || code === 'protected' || code === 'moved' ? 'git' : code
