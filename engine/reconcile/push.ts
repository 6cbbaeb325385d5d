/** A signed push: that a branch has moved, from GitHub (X-Hub-Signature-256) or GitLab (X-Gitlab-Token). */
import type { CatalogPushTaken } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { verifySignature } from '../log/ingest/signature.ts'
import type { Repository } from './repository.ts'

export interface PushRequest {
  /** The bytes that were signed. */
  raw: Uint8Array
  /** Lower-case names. */
  headers: Record<string, string>
}

/**
 * Whether a push is of the branch that is followed. What it says is not trusted beyond that: the commit comes of a fetch.
 * @throws SvcError not_found: none is taken; bad_signature; invalid
 */
export function takePush(
  repository: Repository | null,
  { raw, headers }: PushRequest,
  now: number,
): CatalogPushTaken {
  const secret = repository?.pushSecret
  if (!repository || !secret)
    return fail(
      'not_found',
      'no push is taken: set SVC_CATALOG_REPO and SVC_CATALOG_REPO_SECRET where svc is started',
    )
  const scheme = headers['x-gitlab-token'] === undefined ? 'github' : 'gitlab'
  const reason = verifySignature(scheme, { secrets: [secret] }, raw, headers, now)
  if (reason !== null) fail('bad_signature', `signature check failed (${scheme}): ${reason}`)
  return { ok: true, looks: isOf(repository, raw, headers) }
}

function isOf({ ref }: Repository, raw: Uint8Array, headers: Record<string, string>): boolean {
  const event = headers['x-github-event'] ?? headers['x-gitlab-event']
  if (event !== undefined && !/^(push|push hook|tag push hook)$/i.test(event)) return false
  const moved = refIn(raw, headers['content-type'])
  return [ref, `refs/heads/${ref}`, `refs/tags/${ref}`].includes(moved)
}

/** @throws SvcError invalid */
function refIn(raw: Uint8Array, type = ''): string {
  const text = Buffer.from(raw).toString('utf8')
  try {
    const json = /form-urlencoded/.test(type) ? (new URLSearchParams(text).get('payload') ?? '') : text
    const { ref } = (JSON.parse(json) ?? {}) as { ref?: unknown }
    if (typeof ref === 'string') return ref
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return fail('invalid', 'the body of a push must be JSON with a ref', { field: 'ref' })
}
