/** Writes of MCP servers, each one change-set. */
import type { McpServerWrite, PartDeleted, PartWritten } from '../../schemas/types.ts'
import { githubName } from '../credentials/types.ts'
import { keepMcpSecrets, normaliseMcpServer } from '../parts/mcp-server-spec.ts'
import { storedName } from '../parts/secret-fields.ts'
import type { Declared } from './declared.ts'
import { requireCredential } from './require-credential.ts'
import { checkName, deleted, joiningProject, stageEdit, stageNew, type WriteBy, written } from './write.ts'

/** @throws SvcError invalid; conflict when the name is taken */
export function createMcpServer(declared: Declared, body: McpServerWrite, by: WriteBy): PartWritten {
  checkName('mcp_server', body.name)
  const doc = normaliseMcpServer(keepMcpSecrets(specOf(body), undefined))
  requireCredential(declared, githubName(storedName(doc.auth_value)), null)
  const committed = declared.changes.commit(by, (edit) =>
    stageNew(edit, 'mcp_server', body.name, { ...doc }, joiningProject(edit, body.project)),
  )
  return written(declared, 'mcp_server', body.name, committed)
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
    const doc = normaliseMcpServer(keepMcpSecrets(specOf(body), stored))
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
    edit.remove('mcp_server', name)
  })
  return deleted(committed)
}

function specOf({ name: _name, project: _project, ...spec }: McpServerWrite): Record<string, unknown> {
  return spec as Record<string, unknown>
}
