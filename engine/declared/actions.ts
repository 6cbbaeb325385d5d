/**
 * Named actions of template projects (SPEC.md, Projects: actions): an HTTP call the template describes, or
 * a run of one of its agents on an entity.
 */
import { fail, SvcError } from '../errors.ts'
import { refuseEvent } from '../lifecycle/advance.ts'
import { redact } from '../redact.ts'
import { renderAction } from '../templates/index.ts'
import type { Declared } from './declared.ts'
import type { WriteBy } from './write.ts'

const TIMEOUT_MS = 10_000

export interface ActionParts {
  http: typeof fetch
  /** Starts a run of an agent on an entity. @returns its id; null: there is no such agent */
  startRun(agent: string, entity: string, project: string): string | null
}

interface ActionRan {
  ok: true
  action: string
  message: string
  run_id?: string
}

/**
 * @param id project id. @param args as the action's parameters say. @param by who runs it: what was done, and what
 *   was tried and failed, is in the log of the project.
 * @throws SvcError not_found; invalid; unavailable when the address does not answer or refuses
 */
export async function runAction(
  declared: Declared,
  parts: ActionParts,
  id: string,
  { name, args, by }: { name: string; args: Record<string, unknown>; by: WriteBy },
): Promise<ActionRan> {
  const doc = declared.kinds.project.find(id)!.doc
  const file = declared.templates.get(doc.template)
  if (!file) return fail('not_found', `project ${doc.name} has no action named ${name}`)
  const action = renderAction(
    file,
    name,
    doc.params ?? {},
    args,
    (kind, key) => doc.plan?.[kind]?.[key]?.name,
  )
  if (action.run && doc.paused) refuseEvent('project', doc.name, 'paused', `run its action ${name}`)
  const log = (how: string) => declared.changes.note(by, id, `action ${name}${given(args)}${how}`)
  try {
    const ran = await perform(action, name, id, parts)
    log(`: ${ran.message}`)
    return ran
  } catch (error) {
    // What was asked of another system may have been done there, though no answer said so.
    if (action.request && error instanceof SvcError && error.code === 'unavailable')
      log(` failed: ${error.message.replace(`action ${name}: `, '')}`)
    throw error
  }
}

const GIVEN_MAX = 200

/** The arguments in brackets, such as (scenario: latency); what looks like a secret is taken out. */
function given(args: Record<string, unknown>): string {
  const shown = Object.entries(args).map(([key, value]) => `${key}: ${String(value)}`)
  return shown.length === 0 ? '' : ` (${redact(shown.join(', ')).slice(0, GIVEN_MAX)})`
}

async function perform(
  { request, run }: ReturnType<typeof renderAction>,
  name: string,
  id: string,
  { http, startRun }: ActionParts,
): Promise<ActionRan> {
  if (run) {
    const run_id =
      startRun(run.agent, run.entity, id) ??
      fail('conflict', `action ${name}: agent ${run.agent} is not there; repair it first`)
    return { ok: true, action: name, message: `${run.agent} looks at ${run.entity}`, run_id }
  }
  if (!request) return fail('conflict', `action ${name} says neither what to call nor whom to run`)
  const status = await send(http, request)
  if (status >= 300) fail('unavailable', `action ${name}: ${new URL(request.url).host} answered ${status}`)
  return { ok: true, action: name, message: `${new URL(request.url).host} answered ${status}` }
}

async function send(
  http: typeof fetch,
  request: { method: string; url: string; body?: unknown },
): Promise<number> {
  try {
    const response = await http(request.url, {
      method: request.method,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(request.body === undefined
        ? {}
        : { body: JSON.stringify(request.body), headers: { 'content-type': 'application/json' } }),
    })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    return fail('unavailable', `${new URL(request.url).host} cannot be reached: ${(error as Error).message}`)
  }
}
