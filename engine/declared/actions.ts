/**
 * Named actions of template projects (SPEC.md, Projects: actions): an HTTP call the template describes, or
 * a run of one of its agents on an entity.
 */
import { fail } from '../errors.ts'
import { refuseEvent } from '../lifecycle/advance.ts'
import { renderAction } from '../templates/index.ts'
import type { ProjectDoc } from '../wiring/project-doc.ts'
import type { Declared } from './declared.ts'

const TIMEOUT_MS = 10_000

export interface ActionParts {
  http: typeof fetch
  /** Starts a run of an agent on an entity. @returns its id; null: there is no such agent */
  startRun(agent: string, entity: string, project: string): string | null
}

/**
 * @param id project id. @param args as the action's parameters say.
 * @throws SvcError not_found; invalid; unavailable when the address does not answer or refuses
 */
export async function runAction(
  declared: Declared,
  { http, startRun }: ActionParts,
  id: string,
  name: string,
  args: Record<string, unknown>,
): Promise<{ ok: true; action: string; message: string; run_id?: string }> {
  const doc = declared.kinds.project.find(id)!.doc as unknown as ProjectDoc
  const file = declared.templates.get(doc.template)
  if (!file) return fail('not_found', `project ${doc.name} has no action named ${name}`)
  const { request, run } = renderAction(
    file,
    name,
    doc.params ?? {},
    args,
    (kind, key) => doc.plan?.[kind]?.[key]?.name,
  )
  if (run) {
    if (doc.paused) refuseEvent('project', doc.name, 'paused', `run its action ${name}`)
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
