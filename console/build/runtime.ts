/**
 * The bundler's own helpers, 700 bytes that every file of the build imports, as part of the file of packages: by
 * themselves they would be a request more of every first load.
 */
import type { Plugin, Rolldown } from 'vite'

/** How the helpers are called where they lie. */
const CALLED = 'ofBundler$'
const EXPORTS = /export\s*\{([^}]*)\};?\s*$/

/** @param into begin of the name of the file that takes them; it is loaded by every page */
export const runtimeWith = (into: string): Plugin => ({
  name: 'runtime with packages',
  generateBundle: {
    order: 'pre',
    handler(_options, bundle) {
      const chunks = Object.values(bundle).filter((one) => one.type === 'chunk')
      const runtime = chunks.find(({ name }) => name === 'rolldown-runtime')
      const holder = chunks.find(({ name }) => name === into)
      if (!runtime || !holder) this.error('The build has no helpers, or no file to put them with')
      const importing = new RegExp(
        `import\\s*\\{([^}]*)\\}\\s*from\\s*["']\\./${runtime.fileName.replace(/.*\//, '').replace('.', '\\.')}["'];?`,
      )
      for (const chunk of chunks) if (chunk !== runtime) moveImports(chunk, { importing, runtime, holder })
      holder.code = `${declared(runtime.code)}${holder.code}`
      delete bundle[runtime.fileName]
    },
  },
})

/** `a as b, c` as pairs of what is inside and what it is called outside. */
const pairs = (list: string): [string, string][] =>
  list.split(',').map((one) => {
    const [from = '', to = from] = one.trim().split(/\s+as\s+/)
    return [from, to]
  })

/** The helpers, each a constant that is exported. */
function declared(code: string): string {
  const exported = pairs(EXPORTS.exec(code)![1]!)
  const made = `(()=>{${code.replace(EXPORTS, '')};return{${exported.map(([from, to]) => `${to}:${from}`)}}})()`
  const names = exported.map(([, to]) => `${to}:${CALLED}${to}`)
  return `const{${names}}=${made};export{${exported.map(([, to]) => CALLED + to)}};`
}

function moveImports(
  chunk: Rolldown.OutputChunk,
  of: { importing: RegExp; runtime: Rolldown.OutputChunk; holder: Rolldown.OutputChunk },
): void {
  const { importing, runtime, holder } = of
  chunk.code = chunk.code.replace(importing, (_, list: string) => {
    const taken = pairs(list)
    if (chunk === holder) return `const ${taken.map(([from, to]) => `${to}=${CALLED}${from}`)};`
    const names = taken.map(([from, to]) => `${CALLED}${from} as ${to}`)
    return `import{${names}}from"./${holder.fileName.replace(/.*\//, '')}";`
  })
  const others = chunk.imports.filter((file) => file !== runtime.fileName)
  const needs = chunk === holder ? [] : [holder.fileName]
  chunk.imports = [...new Set([...others, ...needs])]
}
