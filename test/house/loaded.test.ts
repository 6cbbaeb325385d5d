/** What a start loads before it knows what is asked of it: most of its processor time is loading code. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** @returns files of ours and packages that loading `file` loads, what is imported when it is needed aside */
async function loadedBy(file: string): Promise<{ files: string[]; packages: string[] }> {
  const { metafile } = await build({
    ...{ absWorkingDir: root, entryPoints: [file], bundle: true, write: false, metafile: true },
    ...{ platform: 'node', format: 'esm', packages: 'external', outdir: 'none', logLevel: 'silent' },
  })
  const files = new Set([file])
  const packages = new Set<string>()
  for (const one of files)
    for (const { path, kind, external } of metafile.inputs[one]?.imports ?? []) {
      if (kind === 'dynamic-import') continue
      if (external) packages.add(path)
      else files.add(path)
    }
  return { files: [...files], packages: [...packages].filter((name) => !name.startsWith('node:')) }
}

describe('what is loaded at a start', () => {
  it('of a command is neither the engine nor a validator nor YAML, which some commands need', async () => {
    const { files, packages } = await loadedBy('api/cli/svc.ts')
    expect(files.filter((file) => /^(engine|api\/http)\//.test(file))).toEqual([])
    expect(packages.sort()).toEqual(['commander', 'diff', 'eventsource-parser'])
  })

  it('of the daemon is no SDK of MCP, which whoever asks for it first loads', async () => {
    const { packages } = await loadedBy('api/http/server.ts')
    expect(packages).toContain('fastify')
    expect(packages.filter((name) => name.startsWith('@modelcontextprotocol/'))).toEqual([])
  })
})
