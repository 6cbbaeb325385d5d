/**
 * Writes of agents, each one change-set. The trigger, the handoffs and the switch in a body are the
 * wiring of one project: the one the body names, else the one the agent was made in.
 */
import { didYouMean } from '../../schemas/near-names.ts'
import { listWords } from '../../schemas/plain-words.ts'
import type {
  AgentSpec,
  AgentUpdate,
  AgentWrite,
  CredentialServer,
  CredentialServerWrite,
  EntityWrite,
  EntityWritten,
  KeyCreate,
  KeyCreated,
  McpServerWrite,
  PartDeleted,
  PartMoved,
  PartWritten,
  SubscriptionCreated,
  TriggerSpec,
  TriggerWrite,
} from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import { AGENT_SECRETS, keepAgentSecrets, normaliseAgent, normaliseHandoffs } from '../documents/agent.ts'
import { normaliseEntity } from '../documents/entity.ts'
import { keepMcpSecrets, normaliseMcpServer } from '../documents/mcp-server.ts'
import { normaliseTrigger } from '../documents/trigger.ts'
import { leftWithoutTrigger } from '../documents/wiring.ts'
import { fail, SvcError } from '../errors.ts'
import { acceptedIn } from '../log/lifecycle.ts'
import { githubName } from '../model/credentials.ts'
import type { Edit } from '../model/documents.ts'
import {
  ownerOf,
  type ProjectDoc,
  projectOf,
  projectsOf,
  putProject,
  usersOf,
  wiringOf,
  withHandoffsOf,
  withWake,
  withWakesOf,
} from '../model/project.ts'
import { storedName } from '../net/address-secrets.ts'
import type { Sources } from '../sources/sources.ts'
import {
  checkName,
  type Declared,
  deleted,
  joiningProject,
  movePart,
  requireCredential,
  stageEdit,
  stageNew,
  stageRename,
  type WriteBy,
  written,
} from './declared.ts'
import { type Keys, refuseAgentsName } from './keys.ts'
import { withoutNotes } from './projects/remove.ts'
import { requireProject } from './skill-writes.ts'

const STARTS_OFF = 'made, and off: enable it once its trigger is right'
const NO_TRIGGER = 'made, and nothing wakes it: give it a trigger, or a handoff from another agent'

/** @throws SvcError invalid; conflict when the name is taken */
export function createAgent(declared: Declared, body: AgentWrite, by: WriteBy): PartWritten {
  const committed = declared.changes.commit(by, (edit) => stageNewAgent(edit, body))
  return {
    ...written(declared, 'agent', body.name, committed),
    enabled: false,
    note: body.trigger ? STARTS_OFF : NO_TRIGGER,
  }
}

/** Stages a new agent with its wiring. @throws SvcError invalid; conflict when the name is taken */
export function stageNewAgent(edit: Edit, body: AgentWrite): void {
  checkName('agent', body.name)
  const doc = normaliseAgent(keepAgentSecrets(specOf(body), undefined))
  const project = joiningProject(edit, body.project)
  stageNew(edit, 'agent', body.name, { ...doc }, project)
  stageWiring(edit, project, body)
}

/**
 * What is absent keeps what is stored, and so does a blank secret; null takes a bound away.
 * @throws SvcError not_found; invalid; conflict
 */
export function updateAgent(declared: Declared, name: string, body: AgentUpdate, by: WriteBy): PartWritten {
  const committed = declared.changes.commit(by, (edit) => {
    const now = edit.require('agent', name)
    const stored = { doc: { ...now }, unreadable: edit.stored('agent', name)?.unreadable ?? [] }
    const given = keepAgentSecrets({ ...keptOf(now, body), ...specOf(body) }, stored)
    if (body.slack_webhook_clear) delete (given as Record<string, unknown>).slack_webhook
    stageEdit(edit, 'agent', name, body, { ...normaliseAgent(given) }, by.base)
    if (body.trigger !== undefined || body.handoffs)
      stageWiring(edit, wiringProject(edit, name, body.project), { ...body, name })
  })
  return written(declared, 'agent', name, committed)
}

/** Its runs and findings stay; handoffs to it go. @throws SvcError not_found */
export function deleteAgent(declared: Declared, name: string, by: WriteBy): PartDeleted {
  const committed = declared.changes.commit(by, (edit) => {
    edit.require('agent', name)
    const from = new Set<string>()
    for (const { handoffs } of projectsOf(edit).values())
      for (const [agent, verdicts] of Object.entries(handoffs ?? {}))
        if (agent !== name && Object.values(verdicts).some((targets) => targets[name])) from.add(agent)
    edit.remove('agent', name, by.base)
    return [...from].sort()
  })
  return deleted(committed, { handoffs_removed_from: committed.result })
}

/**
 * Switches what wakes an agent on or off, in one project or in all that use it.
 * @throws SvcError not_found; conflict when nothing wakes it, so there is nothing to switch
 */
export function switchAgent(
  declared: Declared,
  name: string,
  enabled: boolean,
  projectWord: string | undefined,
  by: WriteBy,
): PartMoved {
  const { result } = declared.changes.commit(by, (edit) => {
    edit.require('agent', name)
    const chosen =
      projectWord !== undefined ? [joiningProject(edit, projectWord)] : usersOf(edit, 'agent', name)
    let wired = 0
    for (const id of chosen) {
      const doc = projectOf(edit, id)
      const triggers = Object.entries(doc.wakes ?? {}).filter(([, agents]) => agents[name])
      wired += triggers.length
      if (triggers.length === 0) continue
      if (enabled && doc.paused)
        fail('wrong_state', `project ${doc.name} is paused; resume it to switch ${name} on`, {
          state: 'paused',
          accepts: acceptedIn('project', 'paused'),
        })
      putProject(
        edit,
        id,
        triggers.reduce(
          (next, [trigger]) => withWake(next, trigger, name, enabled),
          enabled
            ? doc
            : withoutNotes(
                doc,
                triggers.map(([trigger]) => ({ trigger, agent: name })),
              ),
        ),
      )
    }
    if (wired === 0 && enabled)
      fail(
        'conflict',
        `no trigger wakes agent ${name}${projectWord ? ' in this project' : ''}; give it one first`,
      )
    return {
      project: projectWord ? chosen[0]! : null,
      warnings: enabled ? [] : chosen.flatMap((id) => stillHandedTo(projectOf(edit, id), name)),
    }
  })
  const { project, warnings } = result
  const version = declared.kinds.agent.find(name)!.changeSet
  return {
    ...{ ok: true, state: 'active', enabled, project, version },
    ...(warnings.length ? { warnings } : {}),
  }
}

/** A switch is of what wakes an agent: whoever hands over to it in a project goes on doing so. */
function stillHandedTo(doc: ProjectDoc, name: string): string[] {
  const givers = new Set(wiringOf(doc).handoffs.flatMap(({ agent, to }) => (to === name ? [agent] : [])))
  if (givers.size === 0 || doc.paused) return []
  const hand = `${listWords([...givers])} ${givers.size === 1 ? 'hands' : 'hand'} over to it`
  return [`${name} still runs in ${doc.name} when ${hand}; delete the handoff to end that`]
}

function stageWiring(
  edit: Edit,
  project: string,
  { name, trigger, handoffs }: Pick<AgentWrite, 'name' | 'trigger' | 'handoffs'>,
): void {
  let doc = projectOf(edit, project)
  if (trigger !== undefined) {
    if (trigger && !edit.has('trigger', trigger))
      fail(
        'invalid',
        `trigger: no trigger is named ${trigger}${didYouMean(trigger, edit.all('trigger').keys())}`,
        { field: 'trigger' },
      )
    doc = withWakesOf(doc, name, trigger ? [trigger] : [])
  }
  if (handoffs) {
    const rows = normaliseHandoffs(name, handoffs)
    const missing = rows.find((row) => !edit.has('agent', row.agent))
    if (missing) {
      const near = didYouMean(missing.agent, edit.all('agent').keys())
      fail('invalid', `handoffs: no agent is named ${missing.agent}${near}`, { field: 'handoffs' })
    }
    doc = withHandoffsOf(doc, name, rows)
  }
  putProject(edit, project, doc)
}

function wiringProject(edit: Edit, name: string, word: string | undefined): string {
  if (word) return joiningProject(edit, word)
  return ownerOf(edit, 'agent', name) ?? usersOf(edit, 'agent', name)[0] ?? joiningProject(edit, undefined)
}

/** Fields in which null keeps what is stored, as if they were absent; elsewhere it says something: no bound of its own. */
const KEPT_BY_NULL: readonly string[] = ['concludes', 'verdicts', 'github', 'github_writes']

/** Whether a field of a body keeps what is stored. */
const keeps = ([field, value]: [string, unknown]): boolean =>
  value === undefined || (value === null && KEPT_BY_NULL.includes(field))

function keptOf(now: AgentSpec, body: AgentUpdate): Record<string, unknown> {
  // Secrets are kept by their own rule; its guard and its sync stay by themselves, and are no fields of an agent's own.
  const elsewhere: readonly string[] = [...AGENT_SECRETS.secrets, 'prevent_destroy', 'sync']
  return Object.fromEntries(
    Object.entries(now).filter(
      ([field]) => !elsewhere.includes(field) && keeps([field, body[field as keyof AgentWrite]]),
    ),
  )
}

/** A body without its wiring, and without what null or absence keeps. */
function specOf(body: AgentUpdate): Record<string, unknown> {
  const { name: _n, trigger: _t, handoffs: _h, slack_webhook_clear: _c, project: _p, ...spec } = body
  return Object.fromEntries(Object.entries(spec).filter((entry) => !keeps(entry)))
}

/* Writes of MCP servers, each one change-set. */

/** @throws SvcError invalid; conflict when the name is taken */
export function createMcpServer(declared: Declared, body: McpServerWrite, by: WriteBy): PartWritten {
  checkName('mcp_server', body.name)
  const doc = normaliseMcpServer(keepMcpSecrets(serverSpecOf(body), undefined))
  requireCredential(declared, githubName(storedName(doc.auth_value)), null)
  const committed = declared.changes.commit(by, (edit) =>
    stageNew(edit, 'mcp_server', body.name, { ...doc }, joiningProject(edit, body.project)),
  )
  return written(declared, 'mcp_server', body.name, committed)
}

/** GitHub's own, and where accounts have their data in a region of their own: api.NAME.ghe.com. */
const HOSTED_MCP: readonly [api: RegExp, server: (host: string) => string][] = [
  [/^api\.github\.com$/, () => 'https://api.githubcopilot.com/mcp/'],
  [/^api\.[\w-]+\.ghe\.com$/, (host) => `https://copilot-${host}/mcp/`],
]

/**
 * Registers the MCP server that GitHub hosts (docs.github.com, Using the GitHub MCP Server), called with a stored
 * credential. @throws SvcError not_found; conflict: there is one; invalid: GitHub hosts none for that address
 */
export function addCredentialServer(
  declared: Declared,
  name: string,
  { write = false, project }: CredentialServerWrite,
  by: WriteBy,
): CredentialServer {
  const found = declared.sources.store.credentials
  if (!found.has(name))
    fail('not_found', `no credential is named ${name}${didYouMean(name, found.names())}`, { field: 'name' })
  const credential = found.find(name)
  if (typeof credential === 'string') fail('invalid', credential)
  const { hostname } = new URL(credential.apiUrl)
  const [, hosted] = HOSTED_MCP.find(([api]) => api.test(hostname)) ?? []
  if (!hosted)
    fail('invalid', `GitHub hosts no MCP server for ${hostname}; add the one that you run under MCP servers`)
  const server = `github-${name}`.slice(0, 64)
  const { project: joined, change_set } = createMcpServer(
    declared,
    {
      ...{ name: server, url: hosted(hostname), auth_value: `credential:github/${name}` },
      ...(write ? {} : { headers: { 'X-MCP-Readonly': 'true' } }),
      ...(project === undefined ? {} : { project }),
    },
    by,
  )
  return { ok: true, server, project: joined, change_set }
}

/** A blank auth_value keeps the stored one, for the same host. @throws SvcError not_found; invalid; conflict */
export function updateMcpServer(
  declared: Declared,
  name: string,
  body: McpServerWrite,
  by: WriteBy,
): PartWritten {
  const committed = declared.changes.commit(by, (edit) => {
    const now = edit.require('mcp_server', name)
    const stored = { doc: now, unreadable: edit.stored('mcp_server', name)?.unreadable ?? [] }
    const doc = normaliseMcpServer(keepMcpSecrets(serverSpecOf(body), stored))
    const [before, after] = [now, doc].map(({ auth_value }) => githubName(storedName(auth_value)))
    requireCredential(declared, after!, before!)
    stageEdit(edit, 'mcp_server', name, body, { ...doc }, by.base)
  })
  return written(declared, 'mcp_server', name, committed)
}

/** It leaves every agent's list too. @throws SvcError not_found */
export function deleteMcpServer(declared: Declared, name: string, by: WriteBy): PartDeleted {
  const committed = declared.changes.commit(by, (edit) => {
    edit.require('mcp_server', name)
    edit.remove('mcp_server', name, by.base)
  })
  return deleted(committed)
}

function serverSpecOf({ name: _name, project: _project, ...spec }: McpServerWrite): Record<string, unknown> {
  return spec as Record<string, unknown>
}

/* Writes of joined entities, each one change-set. */

/** @throws SvcError conflict when the name is taken, or another entity has one of its names; invalid */
export function createJoinedEntity(declared: Declared, body: EntityWrite, by: WriteBy): EntityWritten {
  const { name, ...spec } = body
  if (name === undefined) return fail('invalid', 'a name is required', { field: 'name' })
  checkName('entity', name)
  const committed = declared.changes.commit(by, (edit) => {
    if (edit.has('entity', name)) fail('conflict', `an entity named ${name} exists`, { field: 'name' })
    edit.put('entity', name, { ...normaliseEntity(spec) })
  })
  return entityWritten(declared, name, committed.changeSet)
}

/** @throws SvcError not_found; invalid; conflict */
export function updateJoinedEntity(
  declared: Declared,
  name: string,
  { name: given, ...spec }: EntityWrite,
  by: WriteBy,
): EntityWritten {
  const committed = declared.changes.commit(by, (edit) => {
    edit.require('entity', name)
    if (given !== undefined && given !== name)
      fail(
        'invalid',
        `name must equal the name in the path; for another name POST /api/entities/joined/${name}/rename, or svc entities rename`,
        {
          field: 'name',
        },
      )
    edit.put('entity', name, { ...normaliseEntity(spec) }, by.base)
  })
  return entityWritten(declared, name, committed.changeSet)
}

/** What is read through its names stays as it is, also as of before. @throws SvcError not_found; invalid; conflict */
export function renameJoinedEntity(declared: Declared, name: string, to: string, by: WriteBy): EntityWritten {
  const committed = declared.changes.commit(by, (edit) => stageRename(edit, 'entity', name, to))
  return entityWritten(declared, to, committed.changeSet)
}

/** @throws SvcError not_found; conflict where it is guarded */
export function deleteJoinedEntity(declared: Declared, name: string, by: WriteBy): PartDeleted {
  const committed = declared.changes.commit(by, (edit) => {
    edit.require('entity', name)
    edit.remove('entity', name, by.base)
  })
  return deleted(committed)
}

const entityWritten = ({ kinds }: Declared, name: string, changeSet: number | null): EntityWritten => ({
  ok: true,
  name,
  version: kinds.entity.find(name)?.changeSet ?? 0,
  change_set: changeSet,
})

/* Writes of triggers, each one change-set. */

/** Writes of triggers with who is told of their firings. */
export interface TriggerSaves {
  /** @throws SvcError invalid; conflict when the name is taken */
  createTrigger(body: TriggerWrite, by: WriteBy): Promise<PartWritten>
  /** Replaces the definition; a null description keeps the stored one. @throws SvcError not_found; invalid; conflict */
  updateTrigger(name: string, body: TriggerWrite, by: WriteBy): Promise<PartWritten>
}

export interface TriggerSavesParts {
  declared: Declared
  /** Subscribes an address that may be reached, inside the transaction. */
  subscribe(trigger: string, url: string, by: Caller): SubscriptionCreated
  /** @throws SvcError naming `field` where the address may not be posted to */
  requireAddress(url: string, field: string): Promise<void>
}

/** A trigger, the agents it wakes and the addresses it is posted to are one transaction: all of it, or nothing. */
export function triggerSaves(parts: TriggerSavesParts): TriggerSaves {
  const { declared } = parts
  const save = async (name: string, body: TriggerWrite, by: WriteBy, stage: (edit: Edit) => void) => {
    const addresses = (body.notify?.addresses ?? []).map(addressOf)
    await requireAddresses(parts, addresses)
    return declared.store.tx(() => {
      const committed = declared.changes.commit(by, (edit) => {
        stage(edit)
        if (body.notify?.agents) stageWoken(edit, name, body.notify.agents, body.project)
      })
      const subscriptions = addresses.map((url) => parts.subscribe(name, url, by.caller))
      return {
        ...written(declared, 'trigger', name, committed),
        ...(subscriptions.length ? { subscriptions } : {}),
      }
    })
  }
  return {
    createTrigger: async (body, by) => {
      checkName('trigger', body.name)
      const doc = normaliseTrigger(triggerSpecOf(body))
      return save(body.name, body, by, (edit) =>
        stageNew(edit, 'trigger', body.name, { ...doc }, joiningProject(edit, body.project)),
      )
    },
    updateTrigger: async (name, body, by) =>
      save(name, body, by, (edit) => {
        const now = edit.require('trigger', name)
        const keeps = body.description === undefined || body.description === null
        const doc = normaliseTrigger({
          ...triggerSpecOf(body),
          ...(keeps && now.description !== undefined ? { description: now.description } : {}),
          ...(now.paused ? { paused: true } : {}),
        })
        stageEdit(edit, 'trigger', name, body, { ...doc }, by.base)
      }),
  }
}

/** #shop-ops is a channel of Slack by its name. */
const addressOf = (typed: string): string =>
  typed.trim().startsWith('#') ? `slack://channel/${typed.trim().slice(1)}` : typed.trim()

/** Every one that is refused is named by its place, so that a form can mark it. @throws SvcError invalid */
async function requireAddresses(
  { requireAddress }: TriggerSavesParts,
  addresses: readonly string[],
): Promise<void> {
  const refusals: SvcError[] = []
  for (const [i, url] of addresses.entries()) {
    const refused = await requireAddress(url, `notify.addresses[${i}]`).catch((error: unknown) => error)
    if (refused instanceof SvcError) refusals.push(refused)
    else if (refused !== undefined) throw refused
  }
  const [first] = refusals
  if (first) fail(first.code, refusals.map(({ message }) => message).join('; '), first.extra)
}

/** What wakes agents: this trigger those that are named and no others. A new one is woken where it belongs. */
function stageWoken(edit: Edit, trigger: string, names: readonly string[], word: string | undefined): void {
  const missing = names.findIndex((name) => !edit.has('agent', name))
  if (missing >= 0) {
    const field = `notify.agents[${missing}]`
    const near = didYouMean(names[missing], edit.all('agent').keys())
    fail('invalid', `${field}: no agent is named ${names[missing]}${near}`, { field })
  }
  const woken = new Set<string>()
  for (const [id, doc] of projectsOf(edit)) {
    const now = doc.wakes?.[trigger] ?? {}
    const kept = Object.entries(now).filter(([agent]) => names.includes(agent))
    for (const [agent] of kept) woken.add(agent)
    if (kept.length < Object.keys(now).length)
      putProject(edit, id, { ...doc, wakes: { ...doc.wakes, [trigger]: Object.fromEntries(kept) } })
  }
  const asked = word ? joiningProject(edit, word) : null
  for (const agent of names) {
    if (woken.has(agent)) continue
    const users = usersOf(edit, 'agent', agent)
    const id = asked !== null && users.includes(asked) ? asked : wiringProject(edit, agent, undefined)
    putProject(edit, id, withWake(projectOf(edit, id), trigger, agent, true))
  }
}

/** Its subscriptions and wiring go with it; agents it woke stay. @throws SvcError not_found */
export function deleteTrigger(declared: Declared, name: string, by: WriteBy): PartDeleted {
  const committed = declared.changes.commit(by, (edit) => {
    edit.require('trigger', name)
    const left = leftWithoutTrigger(edit, [name])
    edit.remove('trigger', name, by.base)
    return left
  })
  return deleted(committed, { agents_without_trigger: committed.result })
}

/** @throws SvcError not_found; wrong_state */
export function moveTrigger(
  declared: Declared,
  name: string,
  event: 'pause' | 'resume',
  by: WriteBy,
): PartMoved {
  return movePart(declared, 'trigger', name, event, by)
}

function triggerSpecOf({
  name: _name,
  project: _project,
  notify: _notify,
  description,
  ...spec
}: TriggerWrite): TriggerSpec {
  return { ...spec, ...(description ? { description } : {}) } as TriggerSpec
}

/* New keys, with what they are bound to. */

/** @param isLogin a person approved it for a machine. @throws SvcError invalid; not_found when the source is not there */
export function createBoundKey(
  { keys, sources, declared }: { keys: Keys; sources: Sources; declared: Declared },
  body: KeyCreate,
  caller: Caller,
  isLogin = false,
): KeyCreated {
  if (body.project !== undefined) {
    if (body.source !== undefined) fail('invalid', 'give source or project, not both', { field: 'project' })
    const project = projectFor(declared, body.project)
    if (body.scopes?.includes('findings') ?? true) refuseAgentsName(declared, body.name)
    return keys.create({ ...body, project }, caller, { project })
  }
  const bound = body.source === undefined ? { isLogin } : { sourceId: sources.requireByName(body.source).id }
  return keys.create(body, caller, bound)
}

/** A key cannot be made for what is not there. */
function projectFor(declared: Declared, word: string): string {
  try {
    return requireProject(declared, word)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return fail('invalid', `project: no project has the id or name ${word}`, { field: 'project' })
  }
}
