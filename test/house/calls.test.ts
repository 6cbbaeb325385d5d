/** 18.1: a call is spelled once, in the table of operations; console, CLI and MCP server ask by the client. */
import { expect, it } from 'vitest'
import * as calls from '../../api/client/calls.ts'
import { projectFiles, textOf } from './project-files.ts'

/** Addresses that a file may have, each for what it is. */
const SPELLED: Record<string, readonly string[]> = {
  'what a person or a program calls by itself': [
    'api/cli/commands/sources.ts: /ingest/',
    'api/cli/commands/subscribe.ts: /api/subscriptions/',
    'api/mcp/tools/source-writes.ts: /ingest/',
    'console/lib/send-one.ts: /ingest/',
    'console/lib/send-snippets.ts: /ingest/',
    'console/lib/send-snippets.ts: /v1/logs',
    'console/pages/keys/new-key.tsx: /api/whoami',
    'console/pages/projects/setup-steps.tsx: /ingest/',
    'console/pages/sources/sources-page.tsx: /ingest/',
  ],
  'an address of svc mcp or svc telemetry itself': [
    'api/mcp/http/server.ts: /health',
    'api/mcp/http/sign-in.ts: /.well-known/oauth-protected-resource',
    'api/mcp/telemetry/http.ts: /health',
  ],
  'a page that a client opens': ['console/routes.tsx: /oauth/authorize'],
  'what the server of vite hands on, while it is developed': [
    ...['/api', '/health', '/ingest', '/read', '/remember', '/subscribe', '/unsubscribe'].map(
      (path) => `console/vite.config.ts: ${path}`,
    ),
  ],
}

/** Where the paths of calls begin: `/api`, `/read` … */
const roots = new Set(
  Object.values(calls).map((call) => String(call).split(' ')[1]!.split('/')[1]!.split('{')[0]!),
)
/** In a string, from its beginning or after a host or a value that is filled in. */
const ADDRESS = new RegExp(
  `(?<=['"\`}]|POST |GET )/(?:${[...roots].join('|')})(?![\\w-])(?:/[a-z][\\w-]*)?/?`,
  'g',
)

const asking = projectFiles().filter((file) => /^(api\/(cli|mcp)|console)\/.*\.tsx?$/.test(file))
const code = (file: string) => textOf(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^import .*$/gm, '')

it('no address of the API is spelled outside of the client but for those that are listed here', () => {
  expect([...roots]).toContain('api')
  const found = asking.flatMap((file) =>
    [...code(file).matchAll(ADDRESS)].map(([path]) => `${file}: ${path}`),
  )
  expect([...new Set(found)].sort()).toEqual(Object.values(SPELLED).flat().sort())
})

it('each of the three sends by one place', () => {
  const sending = asking.filter((file) =>
    /(?<![\w.])(?:io\.|globalThis\.|window\.)?fetch\(|\brequest\(target/.test(code(file)),
  )
  expect(sending.filter((file) => !/(client|exchange)\.ts$/.test(file))).toEqual([])
})
