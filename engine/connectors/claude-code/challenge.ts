/** Lines in which a challenger says what it found of a commit or a plan. */
import { oneLine } from '../../ingest/template.ts'
import { objectOf, scalar } from '../scalar.ts'

const TEXT_MAX = 4_000
const SHA_LABEL = 12
const SHA_TEXT = 8
const TYPES = ['challenge_plan', 'challenge_commit', 'challenge_waived']
const NUMBERS = ['finding_count', 'blocking_count', 'round', 'duration_seconds']

export interface ChallengeEvent {
  eventType: string
  text: string
  labels: Record<string, string | number>
}

/** @returns null for any other line. */
export function challengeOf(line: Record<string, unknown>): ChallengeEvent | null {
  const type = scalar(line.type)
  if (type === undefined || !TYPES.includes(type)) return null
  const challenge = objectOf(line.challenge)
  const verdict = scalar(challenge.verdict)?.toUpperCase()
  const sha = scalar(challenge.sha)
  const numbers = NUMBERS.flatMap((name) =>
    typeof challenge[name] === 'number' ? [[name, challenge[name]] as const] : [],
  )
  return {
    eventType: type,
    text: oneLine([headline(type, challenge), ...findingLines(challenge)].join(' · '), TEXT_MAX),
    labels: {
      ...(verdict === undefined ? {} : { verdict }),
      ...(sha === undefined ? {} : { sha: sha.slice(0, SHA_LABEL) }),
      ...Object.fromEntries(numbers),
    },
  }
}

function headline(type: string, challenge: Record<string, unknown>): string {
  const sha = scalar(challenge.sha)?.slice(0, SHA_TEXT)
  const subject =
    sha === undefined ? ['plan', scalar(challenge.plan)].filter(Boolean).join(' ') : `commit ${sha}`
  const round = scalar(challenge.round)
  const did = type === 'challenge_waived' ? 'waived findings of' : 'reviewed'
  return `Challenger ${did} ${subject}${round === undefined ? '' : `, round ${round}`}: ${outcome(type, challenge)}`
}

function outcome(type: string, challenge: Record<string, unknown>): string {
  const count = Number(challenge.finding_count ?? findingsOf(challenge).length)
  const waived = Number(challenge.waived_count ?? 0)
  if (type === 'challenge_waived') return `${waived} waived`
  const verdict = scalar(challenge.verdict)?.toLowerCase()
  if (verdict === undefined || verdict === 'timeout') return 'no verdict (timeout)'
  if (count === 0) return 'no findings'
  return `${count} ${count === 1 ? 'finding' : 'findings'} (${Number(challenge.blocking_count ?? 0)} blocking)`
}

function findingLines(challenge: Record<string, unknown>): string[] {
  return findingsOf(challenge).map(
    ({ priority, title, waived }) =>
      `[${scalar(priority) ?? '?'}] ${scalar(title) ?? ''}${waived === true ? ' (waived)' : ''}`,
  )
}

const findingsOf = (challenge: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(challenge.findings) ? challenge.findings.map(objectOf) : []
