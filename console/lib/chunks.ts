/**
 * Parts of the console that are loaded when first needed. An upgrade of the daemon takes the files of the build
 * before away: the page is then loaded again, once for each build, and where that does not help it is said.
 */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { ApiError, api } from '../client.ts'

const MARK = 'svc:reloaded'
/** Between two looks for a daemon that is away, milliseconds. */
const AGAIN_MS = 5_000
/** Names the build: its file has a hash of what is in it. */
const BUILD = import.meta.url

/** A file of this build is not there any more, and loading the page again brought no other build. */
export class MissingChunk extends Error {}

/**
 * @param load imports a module of pages
 * @returns gives the component that the module exports by a name, loaded when it is first drawn
 */
export function lazyFrom<M>(load: () => Promise<M>) {
  return <N extends keyof M>(
    name: N,
  ): LazyExoticComponent<M[N] extends ComponentType<infer P> ? ComponentType<P> : never> =>
    lazy(async () => ({ default: (await loaded(load))[name] as never }))
}

/** @throws MissingChunk */
async function loaded<M>(load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (error) {
    await untilReached()
    if (window.sessionStorage.getItem(MARK) === BUILD)
      throw new MissingChunk('A file of the console is missing', { cause: error })
    window.sessionStorage.setItem(MARK, BUILD)
    window.location.reload()
    // What is on the screen stays until the page goes.
    return new Promise<never>(() => {})
  }
}

/** Without a daemon, loading the page again would leave none. */
async function untilReached(): Promise<void> {
  for (;;) {
    const answers = await api.health(AbortSignal.timeout(AGAIN_MS)).then(
      () => true,
      // A refusal is an answer, too.
      (error: Error) => error instanceof ApiError && error.status !== 0,
    )
    if (answers) return
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}
