/** Sets of tools, of which a process of `svc mcp` may offer some: a list that is shorter leaves more room. */
import { ConfigError } from '../config-values.ts'
import type { Tool } from './tool.ts'
import { tools } from './tools/index.ts'

export const TOOLSETS = {
  events: [
    ...['changed', 'read', 'series', 'trace', 'stats', 'list_entities'],
    ...['neighbours', 'get_event', 'document', 'why'],
  ],
  incidents: ['list_incidents', 'get_incident', 'acknowledge_incident', 'handle_incident'],
  findings: [
    ...['list_projects', 'project_timeline', 'list_findings', 'get_finding'],
    ...['record_finding', 'remember'],
  ],
  skills: ['list_skills', 'skill'],
  runs: ['list_runs', 'get_run'],
  firings: ['wait_for_firing', 'conclude', 'ack_firing', 'extend_lease'],
  projects: ['join_project', 'leave_project', 'hold_project', 'release_project', 'finish_project'],
  catalog: [
    ...['catalog_list', 'catalog_describe', 'list_sources', 'source_fields', 'list_connectors'],
    ...['discover_docker', 'discover_source', 'test_source', 'create_source', 'get_part'],
  ],
  changes: ['propose_change', 'get_proposal', 'withdraw_proposal', 'apply_change', 'undo_change'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Toolset = keyof typeof TOOLSETS

/** @param text names, comma separated. @throws ConfigError naming the one that is none */
export function parseToolsets(text: string, from: string): Toolset[] {
  const names = [
    ...new Set(
      text
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean),
    ),
  ]
  const unknown = names.find((name) => !Object.hasOwn(TOOLSETS, name))
  if (unknown !== undefined || names.length === 0)
    throw new ConfigError(
      `${from} must be one or more of ${Object.keys(TOOLSETS).join(', ')}, comma separated${unknown === undefined ? '' : `, not ${unknown}`}`,
    )
  return names as Toolset[]
}

/** @param sets null: all. @param readOnly only tools that change nothing */
export function toolsOf(sets: readonly Toolset[] | null, readOnly: boolean): readonly Tool[] {
  const names = sets === null ? null : new Set<string>(sets.flatMap((set) => TOOLSETS[set]))
  return tools.filter(
    ({ name, hints }) => (names === null || names.has(name)) && (!readOnly || hints.readOnlyHint),
  )
}
