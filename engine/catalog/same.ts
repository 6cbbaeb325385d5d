/**
 * Whether two entries of a catalog file say the same, however they are written: an absent field is
 * its default, a verdict may be a word, an ignored field says nothing.
 */

import type { FieldsOf } from '../../schemas/fields-of.ts'
import { documentOf } from '../changes/documents.ts'
import { equal } from '../changes/fields.ts'
import { validateConfig } from '../connectors/config.ts'
import { SvcError } from '../errors.ts'
import { type GivenAgent, HANDOFF_COOLDOWN, normaliseAgent, normaliseHandoffs } from '../parts/agent-spec.ts'
import { normaliseMcpServer } from '../parts/mcp-server-spec.ts'
import { normaliseTrigger } from '../parts/trigger-spec.ts'
import { normaliseSkill } from '../skills/skill-rules.ts'
import { defaultPoll } from '../sources/poll-interval.ts'

type Entry = Record<string, unknown>

/** @param section of the file. Entries that break a rule are only the same when they are equal. */
export function sameEntry(section: string, _name: string, before: unknown, after: unknown): boolean {
  if (equal(before, after)) return true
  const meaning = MEANINGS[section]
  if (!meaning) return false
  try {
    return equal(meaning(before as Entry), meaning(after as Entry))
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return false
  }
}

const MEANINGS: Record<string, (entry: Entry) => unknown> = {
  sources: ({ name, connector, poll, config, paused, projects, prevent_destroy }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    connector,
    poll: poll ?? defaultPoll(String(connector)),
    config: validateConfig(String(connector), (config ?? {}) as Entry),
    paused: paused ?? false,
    projects: [...((projects ?? []) as string[])].sort(),
  }),
  triggers: ({ name, project, prevent_destroy, ...spec }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    project,
    ...normaliseTrigger(documentOf('trigger', spec)),
  }),
  agents: ({ name, project, trigger, handoffs, enabled, prevent_destroy, ...spec }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    project,
    trigger: trigger || undefined,
    enabled: enabled ?? false,
    handoffs: normaliseHandoffs(String(name), (handoffs ?? []) as never),
    ...normaliseAgent(spec as FieldsOf<GivenAgent>),
  }),
  mcp_servers: ({ name, project, prevent_destroy, ...spec }) => ({
    name,
    project,
    prevent_destroy: prevent_destroy ?? false,
    ...normaliseMcpServer(spec as never),
  }),
  skills: ({ name, project, used_by, prevent_destroy, ...spec }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    project,
    used_by: [...((used_by ?? []) as string[])].sort(),
    ...normaliseSkill(spec),
  }),
  projects: ({ template, recipe, name, params, objects, goal, description, paused }) => ({
    template: template ?? recipe,
    name,
    params: params ?? {},
    goal: goal || undefined,
    description: description || undefined,
    paused: paused ?? false,
    objects: ((objects ?? []) as { kind: string; name: string; shared?: boolean }[])
      .map((ref) => `${ref.kind.replace(' ', '_')}:${ref.name}${ref.shared ? ' shared' : ''}`)
      .sort(),
  }),
  usecases: (entry) => MEANINGS.projects!(entry),
  wiring: ({ enabled, cooldown, verdict, ...row }) => ({
    ...row,
    ...(verdict === undefined
      ? { enabled: enabled ?? true }
      : { verdict: String(verdict).toLowerCase(), cooldown: cooldown ?? HANDOFF_COOLDOWN }),
  }),
}
