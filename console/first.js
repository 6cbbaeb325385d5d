/*
 * Runs inside index.html, before any file of the console is there: asks what the page asks first, and loads what the
 * page is made of beside the shell, so that neither waits for the other. The build puts in the routes. lib/first-reads.ts
 * hands the answers on.
 */
/**
 * Addresses, * for a name, with the files of their pages.
 * @type {[string[], string[]][]}
 */
const ROUTES = []
;(() => {
  const { pathname, search } = location
  const general = pathname.replace(/^(\/[^/]+)\/[^/]+/, '$1/*')
  const routeOf = (/** @type {string} */ path) => ROUTES.find(([paths]) => paths.includes(path))
  const found = routeOf(pathname) ?? routeOf(general)
  for (const file of found?.[1] ?? []) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = `/assets/${file}`
    document.head.append(link)
  }
  // Who logs in is somebody else afterwards.
  if (/[?&]token=/.test(search)) return
  const own = /^\/(incidents|projects|triggers|sources)\/(?!new$)[^/]+$/.test(pathname)
    ? `/api${pathname}`
    : search === '' && /^\/(projects|triggers|sources|skills)$/.test(pathname)
      ? `/api${pathname}`
      : null
  window.svcFirst = {}
  for (const path of ['/api/whoami', '/api/home', '/health', own])
    if (path !== null) {
      window.svcFirst[path] = fetch(path)
      // Whoever takes it is told.
      window.svcFirst[path].catch(() => undefined)
    }
})()
