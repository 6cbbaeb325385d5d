/**
 * Workspaces of the platform that an instance is hosted on: who has several goes from one to another. The platform is
 * asked at SVC_WORKSPACE_API_URL, with who is asking as its own proxy said (SVC_USER_HEADER).
 */
import type { Workspace, WorkspacesResult } from '../../schemas/types.ts'
import type { Egress } from '../net/fetch.ts'

export interface WorkspaceCalls {
  /** Never rejects for what the platform answers: that is a reason. @param user as the proxy says; null: not known */
  listWorkspaces(user: string | null): Promise<WorkspacesResult>
}

const VARIABLE = 'SVC_WORKSPACE_API_URL'
const TIMEOUT_MS = 5_000
const ANSWER_BYTES = 256 * 1024
const LISTED_MAX = 200
const NAME_MAX = 120

export function workspaceCalls({
  egress,
  env,
}: {
  egress: Pick<Egress, 'send'>
  env: Readonly<Record<string, string | undefined>>
}): WorkspaceCalls {
  return {
    listWorkspaces: async (user) => {
      const url = env[VARIABLE]?.trim() ?? ''
      if (url === '') return { workspaces: [], reason: 'none' }
      const answer = await egress.send({
        url,
        method: 'GET',
        headers: {
          accept: 'application/json',
          ...(user === null ? {} : { 'svc-user': encodeURIComponent(user) }),
        },
        audience: 'operator',
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: ANSWER_BYTES,
      })
      if (!answer.ok) return refused(`the platform cannot be reached: ${answer.message}`)
      if (answer.status < 200 || answer.status >= 300)
        return refused(`the platform answered ${answer.status}`)
      const listed = workspacesIn(answer.body)
      return listed === null
        ? refused('the platform answered no list of workspaces')
        : { workspaces: listed, reason: null }
    },
  }
}

const refused = (detail: string): WorkspacesResult => ({ workspaces: [], reason: 'error', detail })

/** `{workspaces: […]}`, or the list itself. @returns null: it is neither */
function workspacesIn(body: Buffer): Workspace[] | null {
  let said: unknown
  try {
    said = JSON.parse(body.toString('utf8'))
  } catch {
    // A page of a proxy.
    return null
  }
  const list = Array.isArray(said) ? said : (said as { workspaces?: unknown } | null)?.workspaces
  if (!Array.isArray(list)) return null
  return list.slice(0, LISTED_MAX).flatMap((one: Record<string, unknown> | null) => {
    const { id, name, url, current } = one ?? {}
    if (typeof name !== 'string' || typeof url !== 'string' || !/^https?:\/\//i.test(url)) return []
    return [{ id: String(id ?? name), name: name.slice(0, NAME_MAX), url, is_current: current === true }]
  })
}
