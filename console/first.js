/*
 * Runs inside index.html, before any file of the console is there: asks what the page asks first, and loads what the
 * page is made of beside the shell, so that neither waits for the other. The build puts in the routes. lib/first-reads.ts
 * hands the answers on, and lib/ahead.ts does the same for a page that a pointer is on its way to.
 */
/**
 * Addresses, * for a name, with the files of their pages.
 * @type {[string[], string[]][]}
 */
const ROUTES = []
;(() => {
  /** @param {string} pathname adds what its page is made of, where it is not there yet */
  const load = (pathname) => {
    const general = pathname.replace(/^(\/[^/]+)\/[^/]+/, '$1/*')
    const routeOf = (/** @type {string} */ path) => ROUTES.find(([paths]) => paths.includes(path))
    for (const file of (routeOf(pathname) ?? routeOf(general))?.[1] ?? []) {
      if (document.querySelector(`link[href="/assets/${file}"]`)) continue
      const link = document.createElement('link')
      link.rel = 'modulepreload'
      link.href = `/assets/${file}`
      document.head.append(link)
    }
  }
  /** What the page of an address asks first of its own; null: nothing that is known here. */
  const readOf = (/** @type {string} */ pathname, /** @type {string} */ search) =>
    /^\/projects(\/(?!new$)[^/]+)?$/.test(pathname)
      ? `/api${pathname}?health=true`
      : /^\/(incidents|triggers|sources)\/(?!new$)[^/]+$/.test(pathname)
        ? `/api${pathname}`
        : search === '' && /^\/(triggers|sources|skills)$/.test(pathname)
          ? `/api${pathname}`
          : null
  const ask = (/** @type {string} */ path) => {
    const answer = fetch(path)
    // Whoever takes it is told.
    answer.catch(() => undefined)
    return answer
  }
  window.svcPages = { load, readOf, ask }
  const { pathname, search } = location
  load(pathname)
  // Who logs in is somebody else afterwards.
  if (/[?&]token=/.test(search)) return
  window.svcFirst = {}
  for (const path of ['/api/home', '/health', readOf(pathname, search)])
    if (path !== null) window.svcFirst[path] = ask(path)
})()
