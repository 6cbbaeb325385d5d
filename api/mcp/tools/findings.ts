/** The tools of findings: reading what was found, and writing down what you found. */
import { claimLine, claimsHeld, claimWords } from '../../../schemas/claim-words.ts'
import { entityWord, namedEntity } from '../../../schemas/entity-word.ts'
import { escapeLine } from '../../../schemas/plain-text.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  AllFindingsResult,
  CheckedClaim,
  Finding,
  FindingCreate,
  FindingCreated,
  ProjectResult,
  ToolGetFinding,
  ToolGetFindingResult,
  ToolListFindings,
  ToolListFindingsResult,
  ToolRecordFinding,
  ToolRecordFindingResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { DaemonError } from '../daemon.ts'
import { grownOf, grownText } from '../grown.ts'
import { cutTo, more, ofCursor, pageOf, tokensOf } from '../paging.ts'
import { projectAbout, projectOf } from '../project.ts'
import { adds, type Context, defineTool, READS, ToolError } from '../tool.ts'

/** Findings of one project that are looked at; older ones are pages of all projects. */
const FINDINGS_MAX = 200
const LIMIT = 20
const EXCERPT = 600
/** Characters of a note that the daemon gives of findings of all projects. */
const SUMMARY = 400
const TOKENS = 6_000

export const listFindings = defineTool<ToolListFindings, ToolListFindingsResult>({
  name: 'list_findings',
  title: 'List findings',
  description:
    'Findings, newest first, one of each incident: whether somebody looked before you. Of a project the newest 200.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ project: word, entity, agent, limit = LIMIT, cursor }, context) {
    if (word === undefined && context.identity.project === undefined)
      return ofAllProjects({ entity, agent, limit, cursor }, context)
    const project = await projectOf(word, context).catch((error: unknown) => {
      // The list of projects has no deleted ones, but findings of a deleted project carry its id.
      if (error instanceof ToolError && word !== undefined && context.identity.project === undefined)
        return error
      throw error
    })
    if (project instanceof ToolError)
      return ofAllProjects({ project: word, entity, agent, limit, cursor }, context).catch(
        (error: unknown) => {
          throw error instanceof DaemonError && error.status === 404 ? project : error
        },
      )
    const { id } = project
    const findings = await findingsOf(id, { entity, agent }, context)
    const page = pageOf(
      findings.map((one) => shownOf(one, { id })),
      cursor,
      limit,
    )
    return {
      text: linesOf(page.entries) + more(page.next_cursor),
      content: { project: id, findings: page.entries, next_cursor: page.next_cursor },
    }
  },
})

type Shown = ToolListFindingsResult['findings'][number]

/** A finding of a list. @param project where one of several is meant, with its name */
const shownOf = (one: Finding, project: { id: string; name?: string; deleted?: true }): Shown => ({
  finding_id: one.run_id,
  id: one.run_id,
  project: project.id,
  ...(project.name === undefined ? {} : { project_name: project.name }),
  ...(project.deleted ? { project_deleted: true } : {}),
  at: one.at,
  agent: one.agent,
  entity: one.entity,
  label: one.label,
  verified: one.verified,
  verdict: one.verdict,
  headline: one.headline,
  next_step: one.next_step,
  text: one.finding.slice(0, EXCERPT),
  cut: one.finding.length > EXCERPT || (project.name !== undefined && one.finding.length === SUMMARY),
  trigger: one.trigger,
  external: one.external,
  handled_by: one.handled?.by ?? null,
  incident: grownOf(one.incident),
  mark: one.mark?.mark ?? null,
})

const linesOf = (shown: readonly Shown[]): string =>
  shown
    .map(
      (one) =>
        `${one.at} ${entityWord(one.label, one.entity)}${one.verdict ? ` [${one.verdict}]` : ''} by ${one.agent} (${one.id})${one.project_name ? ` in ${escapeLine(one.project_name)}${one.project_deleted ? ' (deleted)' : ''}` : ''}${heldText(one.verified)}${handledText(one.handled_by)}${markText(one.mark)}${grownText(one.incident)}\n${one.headline ? `${one.headline}\n` : ''}${one.text}${one.cut ? '…' : ''}${one.next_step ? `\nnext: ${one.next_step}` : ''}`,
    )
    .join('\n\n') || 'no findings'

/** Those of all projects, in the pages of the daemon. @throws DaemonError; ToolError */
async function ofAllProjects(
  { project, entity, agent, limit, cursor }: ToolListFindings & { limit: number },
  { daemon, signal }: Context,
): Promise<{ text: string; content: ToolListFindingsResult }> {
  const { entity: value, label } = namedEntity({ entity })
  const shown: Shown[] = []
  let before: string | null = cursor ?? null
  // A page may hold none of that label: the value is known by others.
  do {
    const page: AllFindingsResult = await daemon
      .ask(
        calls.listAllFindings,
        { project, entity: value, agent, limit, before: before ?? undefined },
        signal,
      )
      .catch(ofCursor(cursor))
    shown.push(
      ...page.findings
        .filter(({ result }) => label === undefined || result.label === label)
        .map((one) => shownOf(ofResult(one), one.project)),
    )
    before = page.next_before
  } while (shown.length === 0 && before !== null)
  return {
    text: linesOf(shown) + more(before),
    content: { project: null, findings: shown, next_cursor: before },
  }
}

/** A finding of all projects in the form of those of one; of its note there is the start. */
const ofResult = ({ result, agent, trigger }: AllFindingsResult['findings'][number]): Finding => ({
  ...{ run_id: result.id, agent, trigger, finding: result.summary },
  ...{ entity: result.entity, label: result.label, verdict: result.verdict, headline: result.headline },
  ...{ next_step: result.next_step, at: result.at, external: result.external, handled: result.handled },
  verified: result.claims && { ok: result.claims.held, total: result.claims.total },
  ...{ mark: result.mark, incident: result.incident },
})

/**
 * The newest findings of a project. @param entity by its value, or as other tools write it: label=value
 * @throws DaemonError
 */
async function findingsOf(
  id: string,
  { entity, agent }: Pick<ToolListFindings, 'entity' | 'agent'>,
  { daemon, signal }: Context,
): Promise<Finding[]> {
  const ask = async (value: string | undefined) =>
    (await daemon.ask(calls.listFindings, { id, entity: value, agent, limit: FINDINGS_MAX }, signal)).findings
  const { entity: value, label } = namedEntity({ entity })
  const found = await ask(entity)
  if (label === undefined) return found
  // Of a value that is itself written so, too.
  const ids = new Set(found.map(({ run_id }) => run_id))
  const named = (await ask(value)).filter((one) => one.label === label && !ids.has(one.run_id))
  return [...found, ...named].sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

export const getFinding = defineTool<ToolGetFinding, ToolGetFindingResult>({
  name: 'get_finding',
  title: 'Read a finding',
  description: 'The whole note of one finding, by the id that other tools show.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  aliases: { id: 'finding_id', finding: 'finding_id' },
  async run({ finding_id, project: word, max_tokens: tokens = TOKENS }, context) {
    const named = word === undefined ? undefined : (await projectOf(word, context)).id
    const {
      project: { id: project },
      result: found,
    } = await context.daemon.ask(calls.getFinding, { run: finding_id, project: named }, context.signal)
    const { at, entity, label, chain: agents, verdict, headline, next_step, event_id: event } = found
    const { claims, left } = claimsWithin(found.checked_claims, Math.ceil(tokens / 2))
    const { text: note, cut } = cutTo(found.note, Math.max(1, tokens - tokensOf(claims.join('\n'))))
    return {
      text: `${headline}\n${at} ${entityWord(label, entity)}${verdict ? ` [${verdict}]` : ''} by ${agents.join(' → ')}${handledText(found.handled?.by)}${markText(found.mark?.mark)}${next_step ? `\nnext: ${next_step}` : ''}\n\n${note}${cut ? '\n[cut: ask with a larger max_tokens]' : ''}${claims.map((claim) => `\nclaim: ${claim}`).join('')}${moreClaims(left)}${grownText(grownOf(found.incident))}${otherNotes(found)}`,
      content: {
        project,
        finding_id: found.id,
        id: found.id,
        at,
        entity,
        label,
        claims,
        agents,
        verdict,
        headline,
        next_step,
        handled_by: found.handled?.by ?? null,
        mark: found.mark?.mark ?? null,
        event_id: event,
        event,
        note,
        cut: cut || left > 0,
        incident: grownOf(found.incident),
        notes: found.incident?.notes.filter(({ run_id }) => run_id !== found.id) ?? [],
      },
    }
  },
})

const CLAIM_TOKENS = 300

/** Claims as lines, as many as a budget holds. @param left how many it does not */
export function claimsWithin(
  all: readonly CheckedClaim[],
  tokens: number,
): { claims: string[]; left: number } {
  const claims: string[] = []
  let used = 0
  for (const one of all) {
    const line = cutTo(claimLine(one), CLAIM_TOKENS).text
    used += tokensOf(line)
    if (used > tokens && claims.length > 0) break
    claims.push(line)
  }
  return { claims, left: all.length - claims.length }
}

/** How many claims are left out; empty: none. */
export const moreClaims = (left: number): string =>
  left > 0 ? `\n[and ${countWords(left, 'more claim')}: ask with a larger max_tokens]` : ''

/** The other findings of its incident, each with the id that reads it. */
function otherNotes({ id, incident }: ProjectResult): string {
  const others = incident?.notes.filter(({ run_id }) => run_id !== id) ?? []
  return others
    .map((one) => `\n- ${one.at} ${one.headline}${one.verdict ? ` [${one.verdict}]` : ''} (${one.run_id})`)
    .join('')
}

/** How many claims of a finding hold, behind who wrote it; empty: it made none. */
const heldText = (verified: Finding['verified']): string =>
  verified ? `, ${claimWords({ held: verified.ok, total: verified.total })}` : ''

/** Who ended what it is about; empty: nobody did. */
const handledText = (by: string | null | undefined): string => (by ? `, handled by ${by}` : '')

/** How a person or a key marked a finding; empty: nobody did. */
export const markText = (mark: string | null | undefined): string =>
  mark ? `, marked as ${mark === 'partly' ? 'partly right' : mark}` : ''

export const recordFinding = defineTool<ToolRecordFinding, ToolRecordFindingResult>({
  name: 'record_finding',
  title: 'Record a finding',
  description:
    "Writes what you found onto the entity's timeline and into the project's results. Call it once, when you are done. With nothing to report, record nothing.",
  scope: 'findings',
  ofProject: true,
  hints: adds(),
  async run(said, context) {
    const made = await recordFindingOf(said, context)
    const { run_id, event_id, agent, entity, verdict, project } = made
    return {
      text: `recorded as ${run_id} on the timeline of ${entity} (${event_id}), by ${agent}${checkedText(made)}`,
      content: {
        ...{ finding_id: run_id, id: run_id, event_id, event: event_id, project, agent, entity, verdict },
        ...checkedContent(made),
      },
    }
  },
})

/** What came of its claims, and what should be known of it. */
export const checkedContent = ({ claims, notices }: Pick<FindingCreated, 'claims' | 'notices'>) => ({
  claims: claims.map(({ text, ok, unproved, why }) => ({ text, ok, unproved, why })),
  notices,
})

export function checkedText({ claims, notices }: Pick<FindingCreated, 'claims' | 'notices'>): string {
  const counted = claimsHeld(claims)
  const held = counted ? [claimWords(counted)] : []
  const faults = claims.filter(({ ok }) => !ok).map(({ text, why }) => `${text}: ${why}`)
  return [...held, ...faults, ...notices].map((line) => `\n${line}`).join('')
}

/**
 * @param firing one that is held, and ends with the finding.
 * @returns the finding, and its project by id. @throws ToolError; DaemonError
 */
export async function recordFindingOf(
  { project: word, ...said }: ToolRecordFinding,
  context: Context,
  firing?: FindingCreate['firing'],
): Promise<FindingCreated & { project: string }> {
  const finding = { ...said, ...namedEntity(said) }
  const { id } = await projectAbout(word, finding, context)
  const made = await context.daemon.ask(
    calls.recordFinding,
    {
      id,
      body: {
        ...finding,
        ...(firing ? { firing } : {}),
        // On an open instance there is no key to name it after.
        ...(context.identity.id === 'open' ? { agent: context.client } : {}),
      },
    },
    context.signal,
  )
  return { ...made, project: id }
}
