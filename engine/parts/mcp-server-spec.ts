/** The rules of a declared MCP server that its schema cannot say, and its canonical form. */
import { check } from '../../schemas/index.ts'
import type { McpServerSpec } from '../../schemas/types.ts'
import { fail } from '../errors.ts'

export const MCP_SERVER_SECRETS = ['auth_value'] as const

/** @returns the spec in canonical form. @throws SvcError invalid, naming the field and the rule. */
export function normaliseMcpServer(given: McpServerSpec): McpServerSpec {
  const fault = check('mcp-server-spec.json', given)
  if (fault) fail('invalid', fault)
  if (!URL.canParse(given.url)) fail('invalid', 'url must be an http or https address', { field: 'url' })
  const { url, auth_header, auth_value, headers } = given
  const isDefaultHeader = !auth_header || auth_header.toLowerCase() === 'authorization'
  return {
    url,
    ...(isDefaultHeader ? {} : { auth_header }),
    ...(auth_value ? { auth_value } : {}),
    ...(headers && Object.keys(headers).length ? { headers } : {}),
  }
}
