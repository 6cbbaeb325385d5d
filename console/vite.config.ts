import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, minifySync, type Plugin, type Rolldown } from 'vite'
import { chunkGroups, pathInProject } from './build/chunk-groups.ts'
import { lighter } from './build/lighter.ts'
import { PACKED_FILE } from './build/placing.ts'
import { runtimeWith } from './build/runtime.ts'

const daemon = process.env.SVCD_URL ?? 'http://127.0.0.1:8787'
const MAIN = fileURLToPath(new URL('main.tsx', import.meta.url))
const HTML = fileURLToPath(new URL('index.html', import.meta.url))

/* The docs as one file of the build: read when Help is opened, by no page else. */
const docs = fileURLToPath(new URL('../docs/', import.meta.url))

/** @returns puts docs/*.md into one JSON file, {name: text}; its address is the constant HELP_FILE */
function helpFile(): Plugin {
  const names = readdirSync(docs).filter((name) => name.endsWith('.md'))
  const text = JSON.stringify(
    Object.fromEntries(names.map((name) => [name.slice(0, -3), readFileSync(docs + name, 'utf8')])),
  )
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const file = `assets/help-${hash}.json`
  return {
    name: 'help file',
    config: () => ({ define: { HELP_FILE: JSON.stringify(`/${file}`) } }),
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: file, source: text })
    },
    configureServer({ middlewares }) {
      middlewares.use(`/${file}`, (_request, answer) => {
        answer.setHeader('content-type', 'application/json')
        answer.end(text)
      })
    },
  }
}

const ROUTES = fileURLToPath(new URL('routes.tsx', import.meta.url))
const dirname = fileURLToPath(new URL('.', import.meta.url))
const first = fileURLToPath(new URL('first.js', import.meta.url))

/** @returns puts first.js into index.html, before what it loads, with the files of each page */
function firstOfAll(): Plugin {
  return {
    name: 'first of all',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle }) => {
        const text = readFileSync(first, 'utf8').replace(
          'ROUTES = []',
          `ROUTES = ${JSON.stringify(routesOf(bundle ?? {}))}`,
        )
        // Above the styles, for which a script would wait.
        const script = `<script>${minifySync('first.js', text).code}</script>`
        return html.replace('</title>', () => `</title>\n    ${script}`)
      },
    },
  }
}

/** @returns names of the files that a module on demand needs, without those of the shell */
function filesBesidesShell(bundle: Rolldown.OutputBundle, id: string): string[] {
  const chunks = Object.values(bundle).filter((one) => one.type === 'chunk')
  const filesOf = (start: Rolldown.OutputChunk | undefined): Set<string> => {
    const found = new Set(start ? [start.fileName] : [])
    for (const file of found)
      for (const next of chunks.find(({ fileName }) => fileName === file)?.imports ?? []) found.add(next)
    return found
  }
  const shell = filesOf(chunks.find(({ isEntry }) => isEntry))
  return [...filesOf(chunks.find(({ moduleIds }) => moduleIds.includes(id)))]
    .filter((file) => !shell.has(file))
    .map((file) => basename(file))
}

/**
 * @param bundle empty while developing
 * @returns addresses, * for a name, with the files that their pages need besides those of the shell
 */
function routesOf(bundle: Rolldown.OutputBundle): [string[], string[]][] {
  const text = readFileSync(ROUTES, 'utf8')
  const fileOfPage = new Map(
    [...text.matchAll(/const (\w+) = page\(\(\) => import\('\.\/([^']+)'\)\)/g)].map(([, page, file]) => [
      page,
      file!,
    ]),
  )
  const routes = new Map<string, string[]>()
  for (const [, path, page] of text.matchAll(/<Route path="(\/[^"]*)" element=\{<(\w+) /g)) {
    const file = fileOfPage.get(page!)
    if (!file) continue
    // What may be left out is two addresses.
    const paths = [path!.replace(/\/:\w+\?$/, ''), path!.replace(/:\w+\??/g, '*')]
    routes.set(file, [
      ...new Set([...(routes.get(file) ?? []), ...paths.filter((one) => !one.includes(':'))]),
    ])
  }
  return [...routes].map(([file, paths]) => [paths, filesBesidesShell(bundle, dirname + file)])
}

/**
 * @returns writes which files each part that is loaded on demand needs besides the shell, for test/console/bundle.test.ts;
 * and for `npm run split`, what each module takes of its file once that is packed
 */
const partsFile = (): Plugin => ({
  name: 'parts file',
  generateBundle(_options, bundle) {
    const parts = new Set(
      [...this.getModuleIds()].flatMap((id) => this.getModuleInfo(id)?.dynamicallyImportedIds ?? []),
    )
    const source = JSON.stringify(
      Object.fromEntries([...parts].map((id) => [id.slice(dirname.length), filesBesidesShell(bundle, id)])),
    )
    this.emitFile({ type: 'asset', fileName: '.vite/parts.json', source })
    const chunks = Object.values(bundle).filter((one) => one.type === 'chunk')
    if (PACKED_FILE)
      writeFileSync(PACKED_FILE, JSON.stringify(Object.fromEntries(chunks.flatMap(packedModules))))
  },
})

/** @returns modules of a file, by their path in the project, with their share of its bytes once it is packed */
function packedModules({ code, modules }: Rolldown.OutputChunk): [string, number][] {
  const lengths = Object.entries(modules).map(([id, { renderedLength }]) => [id, renderedLength] as const)
  const share = gzipSync(code).length / lengths.reduce((sum, [, length]) => sum + length, 0)
  return lengths.map(([id, length]) => [pathInProject(id, dirname), Math.round(length * share)])
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [lighter(), react(), helpFile(), firstOfAll(), runtimeWith('base'), partsFile()],
  build: {
    outDir: fileURLToPath(new URL('../dist/console', import.meta.url)),
    emptyOutDir: true,
    manifest: true,
    cssCodeSplit: true,
    // Browsers of 2023 and later know modulepreload; one before loads the same files, later.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    // The calls of the client are constants: each is put where it is used, not in a chunk for all.
    rolldownOptions: {
      optimization: { inlineConst: { mode: 'all', pass: 2 } },
      // The shell names each file, and nothing packs a hash: seven characters of it, the least there can be, are enough for one name.
      output: {
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
        codeSplitting: { groups: chunkGroups(MAIN, HTML) },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      [
        '/api',
        '/read',
        '/remember',
        '/subscribe',
        '/unsubscribe',
        '/health',
        '/ingest',
        '/docs',
        '/openapi.json',
      ].map((path) => [path, daemon]),
    ),
  },
})
