/** The rules of a declared agent that its schema cannot say, and its canonical form. */

import type { FieldsOf } from '../../schemas/fields-of.ts'
import { check } from '../../schemas/index.ts'
import type { AgentHandoff, AgentSpec, ToolPolicy, Verdict } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { refuseMoved } from '../model/credentials.ts'
import { documentOf } from '../model/documents.ts'
import { patternFault } from '../model/pattern.ts'
import { MASK } from '../model/plan.ts'
import { HANDOFF_COOLDOWN } from '../model/project.ts'
import { parseDuration } from '../model/units.ts'
import { keepAddressSecrets, keepSecrets, type SecretNames } from '../net/address-secrets.ts'

export const ROUNDS = { plain: 6, withMcp: 12, limit: 24 }
export const AGENT_SECRETS = {
  secrets: ['slack_webhook', 'webhook_token'],
  addresses: ['webhook_url'],
} as const satisfies SecretNames

/** A verdict may be given as a word alone. */
export type GivenVerdicts = readonly (string | Verdict)[]
export type GivenAgent = Omit<AgentSpec, 'verdicts'> & { verdicts?: GivenVerdicts }

/** @returns the spec in canonical form. @throws SvcError invalid, naming the field and the rule. */
export function normaliseAgent(given: GivenAgent): AgentSpec {
  const verdicts = given.verdicts?.map((entry) => (typeof entry === 'string' ? { verdict: entry } : entry))
  const spec: AgentSpec = { ...given, ...(verdicts ? { verdicts } : {}) } as AgentSpec
  if (!verdicts) delete spec.verdicts
  const fault = check('agent-spec.json', spec)
  if (fault) fail('invalid', fault)
  verdicts?.forEach(({ verdict }, i) => {
    if (verdict === 'no_op')
      fail('invalid', `verdicts[${i}].verdict must not be no_op: it is reserved for nothing to report`, {
        field: `verdicts[${i}]`,
      })
    if (verdicts.findIndex((other) => other.verdict === verdict) !== i)
      fail('invalid', `verdicts[${i}].verdict ${verdict} is listed twice`, { field: `verdicts[${i}]` })
  })
  checkTools(spec)
  keepAddressSecrets(spec.webhook_url, undefined, 'webhook_url')
  // The token belongs to the receiver: without one it would go to the next that is entered.
  if (!spec.webhook_url) delete spec.webhook_token
  return withoutDefaults(spec)
}

/**
 * A spec given to replace the stored one, where blank or masked secrets keep what is stored; the token of
 * the receiver is not kept for another receiver.
 * @throws SvcError invalid
 */
export function keepAgentSecrets(
  given: Readonly<Record<string, unknown>>,
  stored: { doc: Readonly<Record<string, unknown>>; unreadable: readonly string[] } | undefined,
): GivenAgent {
  const kept = keepSecrets(given, stored, AGENT_SECRETS)
  const isKept = [undefined, null, '', MASK].includes(given.webhook_token as string | null | undefined)
  if (stored && isKept && kept.webhook_token !== undefined)
    refuseMoved('webhook_token', stored.doc.webhook_url, kept.webhook_url, { field: 'webhook_token' })
  return kept as FieldsOf<GivenAgent>
}

/**
 * A line for a server that the agent does not use would say nothing, and one with the name misspelt
 * would leave what it was to limit without a limit.
 */
function checkTools({ mcp_servers = [], tools }: AgentSpec): void {
  tools?.forEach(({ server, arguments: limited }: ToolPolicy, i) => {
    const at = `tools[${i}]`
    if (!mcp_servers.includes(server))
      fail('invalid', `${at}.server ${server} must be one of mcp_servers`, { field: at })
    for (const [name, pattern] of Object.entries(limited ?? {})) {
      const fault = patternFault(pattern, '')
      if (fault) fail('invalid', `${at}.arguments.${name}: ${fault}`, { field: at })
    }
  })
}

/** @returns the handoffs with lower-case verdicts. @throws SvcError invalid */
export function normaliseHandoffs(agent: string, handoffs: readonly AgentHandoff[]): AgentHandoff[] {
  const seen = new Set<string>()
  return handoffs.map(({ verdict, agent: to, cooldown }, i) => {
    const at = `handoffs[${i}]`
    const word = verdict.toLowerCase()
    if (to === agent) fail('invalid', `${at}.agent must be another agent than ${agent}`, { field: at })
    if (word === 'no_op')
      fail('invalid', `${at}.verdict must not be no_op: it hands nothing over`, { field: at })
    if (seen.has(`${word} ${to}`)) fail('invalid', `${at} repeats ${word} to ${to}`, { field: at })
    seen.add(`${word} ${to}`)
    parseDuration(cooldown ?? HANDOFF_COOLDOWN, `${at}.cooldown`)
    return { verdict: word, agent: to, cooldown: cooldown ?? HANDOFF_COOLDOWN }
  })
}

/** Empty text, empty lists, nulls, false and the brief are how an agent is without them. */
function withoutDefaults(spec: AgentSpec): AgentSpec {
  const said = Object.fromEntries(
    Object.entries(spec).filter(
      ([name, value]) =>
        !(name === 'context' && value === 'brief') &&
        value !== undefined &&
        value !== null &&
        value !== '' &&
        value !== false &&
        !(Array.isArray(value) && value.length === 0),
    ),
  )
  return documentOf('agent', said)
}
