/** The tools that make sources. */
import { didYouMean } from '../../../schemas/near-names.ts'
import type {
  ToolCreateSource,
  ToolCreateSourceResult,
  ToolDiscoverDocker,
  ToolDiscoverDockerResult,
  ToolListConnectors,
  ToolListConnectorsResult,
  ToolTestSource,
  ToolTestSourceResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { DaemonError } from '../daemon.ts'
import { more, pageOf } from '../paging.ts'
import { type Answer, adds, type Context, defineTool, READS, ToolError } from '../tool.ts'
import { proposalText, propose, warned } from './proposals.ts'

/** It asks other systems, and stores nothing. */
const LOOKS_OUTSIDE = { ...READS, openWorldHint: true }

export const listConnectors = defineTool<ToolListConnectors, ToolListConnectorsResult>({
  name: 'list_connectors',
  title: 'List connectors',
  description:
    'What a source can be made of: connectors, with the fields of each, which are required and what they mean.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  async run({ name, cursor }, { daemon, signal }) {
    const all = await daemon.ask(calls.listConnectors, {}, signal)
    const connectors = Object.entries(all)
      .filter(([key, one]) => !one.internal && (name === undefined || key === name))
      .map(([key, one]) => ({
        name: key,
        title: one.label,
        mode: one.mode,
        discover: one.discover,
        description: one.description,
        fields: one.fields.map(({ name, type, required, secret, help }) => ({
          name,
          type,
          required,
          secret,
          help,
        })),
      }))
    if (name !== undefined && connectors.length === 0)
      throw new ToolError(
        `there is no connector ${name}${didYouMean(name, Object.keys(all))}; call without name to list them`,
        'name',
      )
    const page = pageOf(connectors, cursor)
    const lines = page.entries.map(
      (one) =>
        `${one.name} (${one.mode}${one.discover ? ', with discover_source' : ''}): ${one.description}\n${one.fields.map((field) => `  ${field.name}${field.required ? ' (required)' : ''}: ${field.type}. ${field.help}`).join('\n')}`,
    )
    return {
      text: lines.join('\n') + more(page.next_cursor),
      content: { connectors: page.entries, next_cursor: page.next_cursor },
    }
  },
})

export const discoverDocker = defineTool<ToolDiscoverDocker, ToolDiscoverDockerResult>({
  name: 'discover_docker',
  title: 'Scan local containers',
  description:
    'Looks at the containers beside the daemon and proposes a source for each service. It saves nothing: create_source makes those that a person chooses.',
  scope: 'admin',
  ofProject: false,
  hints: LOOKS_OUTSIDE,
  async run(_args, { daemon, signal }) {
    const scan = await daemon.ask(calls.discoverEnvironment, { provider: 'docker' }, signal)
    const { summary, proposed_sources: proposed, skipped } = scan
    const lines = [
      `containers: ${summary.containers}; sources proposed: ${summary.proposed}`,
      ...proposed.map(
        (one) =>
          `${one.name} (${one.connector}${one.preselect ? '' : ', not preselected'}): ${one.summary}; config ${JSON.stringify(one.config)}`,
      ),
      ...skipped.map((one) => `left out: ${one.service} (${one.image}): ${one.reason}`),
    ]
    return { text: lines.join('\n'), content: { summary, proposed_sources: proposed, skipped } }
  },
})

export const testSource = defineTool<ToolTestSource, ToolTestSourceResult>({
  name: 'test_source',
  title: 'Try a source',
  description:
    'Tries a config without saving anything, and shows what would be stored. Call it until it is ok, then create_source with the same arguments.',
  scope: 'admin',
  ofProject: false,
  hints: LOOKS_OUTSIDE,
  async run(args, { daemon, signal }) {
    const result = await daemon.ask(calls.testSource, { body: args }, signal)
    const { ok, events = 0, sample = [], note = '', error = null } = result
    return {
      text: ok
        ? `it works; ${events} events seen. ${note}\n${sample.join('\n')}`.trim()
        : `it does not work: ${error ?? 'no reason was given'}. ${note}`.trim(),
      content: { ok, events, sample, note, error },
    }
  },
})

export const createSource = defineTool<ToolCreateSource, ToolCreateSourceResult>({
  name: 'create_source',
  title: 'Make a source',
  description:
    'Makes a source. Give labels, one of them primary: it names the entity whose timeline an event is on. One that is pushed to answers with the path producers post to, and on a secured instance with a token, shown once: hand both to whoever configures the producer, and write the token nowhere else.',
  scope: 'admin',
  ofProject: false,
  hints: adds(),
  proposes: true,
  async run({ dry_run, ...args }, context) {
    const { daemon, signal } = context
    if (dry_run) return proposeSource(args, context)
    const made = await daemon.ask(calls.createSource, { body: args }, signal)
    const path = made.ingest_key === null ? null : `/ingest/${made.ingest_key}`
    const token = made.key?.secret ?? null
    const how =
      args.connector === 'otlp'
        ? 'exporters of OpenTelemetry send to the address of the daemon: OTEL_EXPORTER_OTLP_ENDPOINT'
        : `producers POST JSON to ${path} of the daemon`
    return {
      text: `source ${made.name} is made${path === null ? '' : `; ${how}${token === null ? '' : ` with Authorization: Bearer ${token} (shown once)`}`}${warned(made.warnings)}`,
      content: {
        name: made.name,
        project: made.project ?? null,
        change_set: made.change_set ?? null,
        ingest_path: path,
        ingest_token: token,
        proposal_id: null,
        warnings: made.warnings ?? [],
      },
    }
  },
})

/** @throws ToolError where there is one of that name: put would replace it. @throws DaemonError */
async function proposeSource(
  { name, project, ...spec }: Omit<ToolCreateSource, 'dry_run'>,
  context: Context,
): Promise<Answer<ToolCreateSourceResult>> {
  if (await isThere(name, context))
    throw new ToolError(`a source is named ${name} already; propose_change with patch changes it`, 'name')
  const operation = { op: 'put' as const, kind: 'source' as const, name, spec }
  const made = await propose(
    { operations: [project === undefined ? operation : { ...operation, project }] },
    context,
  )
  return {
    text: proposalText(made),
    content: {
      name,
      project: project ?? null,
      change_set: null,
      ingest_path: null,
      ingest_token: null,
      proposal_id: made.proposal_id,
      warnings: made.warnings,
    },
  }
}

async function isThere(name: string, { daemon, signal }: Context): Promise<boolean> {
  try {
    await daemon.ask(calls.getSource, { name }, signal)
    return true
  } catch (error) {
    if (error instanceof DaemonError && error.status === 404) return false
    throw error
  }
}
