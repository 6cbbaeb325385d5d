/** Named actions of template projects (SPEC.md, Projects: actions): an HTTP call the template describes. */
import { fail } from '../errors.ts'
import { renderAction } from '../templates/index.ts'
import type { ProjectDoc } from '../wiring/project-doc.ts'
import type { Declared } from './declared.ts'

const TIMEOUT_MS = 10_000

/**
 * @param id project id. @param args as the action's parameters say.
 * @throws SvcError not_found; invalid; unavailable when the address does not answer or refuses
 */
export async function runAction(
  declared: Declared,
  http: typeof fetch,
  id: string,
  name: string,
  args: Record<string, unknown>,
): Promise<{ ok: true; action: string; message: string }> {
  const doc = declared.kinds.project.find(id)!.doc as unknown as ProjectDoc
  const file = declared.templates.get(doc.template)
  if (!file) return fail('not_found', `project ${doc.name} has no action named ${name}`)
  const { request } = renderAction(file, name, doc.params ?? {}, args)
  if (!request)
    return fail(
      'conflict',
      `action ${name} runs an agent by itself, which this version does not do yet: wake it by its trigger`,
    )
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
