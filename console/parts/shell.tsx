/** Menu, header with the command palette, health banner, and the page. */
import { ActionIcon, Alert, AppShell, Burger, Button, Group, Kbd, Text } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { LogOut, Search, TriangleAlert } from 'lucide-react'
import { type ReactNode, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import type { Health } from '../../schemas/types.ts'
import { api, keys } from '../client.ts'
import ICON from '../icons/favicon.svg?inline'
import { lazyFrom } from '../lib/chunks.ts'
import { withLocalTimes, zoneName } from '../lib/time.ts'
import { useIsPhone } from '../lib/use-is-phone.ts'
import { DemoBar } from './demo-bar.tsx'
import { Acts } from './may.tsx'
import { MenuEntries } from './menu.tsx'
import { Boundary } from './page-boundary.tsx'
import { paletteDoor } from './palette-door.ts'
import { TimeCard } from './time-card.tsx'
import { Tooltip } from './tooltip.tsx'

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false)
  const burger = useRef<HTMLButtonElement>(null)
  const go = useNavigate()
  useHotkeys([['mod+I', () => void go('/ask')]])
  const health = useHealth()
  const { auth_required: secured = false, logout_url: logoutUrl } = health.data ?? {}
  const canLeave = secured || logoutUrl !== undefined
  const leave = () => logOut(secured, logoutUrl)
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip-link" href="#page">
        Skip to the page
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              ref={burger}
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? 'Close the menu' : 'Open the menu'}
              aria-expanded={opened}
            />
            <ToHome />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button
              className="search-button"
              variant="default"
              size="xs"
              aria-label="Search"
              leftSection={<Search size={14} aria-hidden />}
              onClick={paletteDoor.open}
              rightSection={<Kbd size="xs">Ctrl K</Kbd>}
            >
              <span className="wide-only">Search</span>
            </Button>
            <Scopes />
            <Zone />
            <HostedWorkspaces health={health.data} />
            {canLeave && (
              <Tooltip label="Log out">
                <ActionIcon variant="default" aria-label="Log out" onClick={leave}>
                  <LogOut size={16} aria-hidden />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        </Group>
      </AppShell.Header>
      <PagesMenu
        opened={opened}
        version={health.data?.version}
        onGo={close}
        onEscape={() => {
          burger.current?.focus()
          close()
        }}
      />
      <AppShell.Main id="page" tabIndex={-1}>
        <Banners />
        {children}
      </AppShell.Main>
      <WantedPalette secured={canLeave} onLogOut={leave} />
      <TimeCard />
    </AppShell>
  )
}

function ToHome() {
  return (
    <Link
      to="/"
      aria-label="svc, to Home"
      style={{
        display: 'flex',
        gap: 8,
        alignItems: 'center',
        textDecoration: 'none',
        color: 'inherit',
      }}
    >
      <img src={ICON} alt="" width={22} height={22} />
      <Text fw={700}>svc</Text>
    </Link>
  )
}

interface PagesMenuProps {
  /** Over the page of a phone, where it is closed at first. */
  opened: boolean
  version: string | undefined
  onGo: () => void
  onEscape: () => void
}

function PagesMenu({ opened, version, onGo, onEscape }: PagesMenuProps) {
  return (
    <AppShell.Navbar
      p="xs"
      aria-label="Pages"
      data-open={opened || undefined}
      onKeyDown={({ key }) => key === 'Escape' && opened && onEscape()}
    >
      <MenuEntries onGo={onGo} version={version} />
    </AppShell.Navbar>
  )
}

const Palette = lazyFrom(() => import('./palette.tsx'))('Palette')
const Workspaces = lazyFrom(() => import('./workspaces.tsx'))('Workspaces')

/** The switcher of a hosted instance; others never load it. */
function HostedWorkspaces({ health }: { health: Health | undefined }) {
  if (!health?.workspaces_url && !health?.workspace_api_url) return null
  return (
    <Suspense fallback={null}>
      <Workspaces health={health} />
    </Suspense>
  )
}

/** It reads rows of many pages: loaded once it is asked for, and where one cannot be read the rest goes on. */
function WantedPalette({ secured, onLogOut }: { secured: boolean; onLogOut: () => void }) {
  const { pathname } = useLocation()
  const [isWanted, setWanted] = useState(false)
  useEffect(() => paletteDoor.onWanted(() => setWanted(true)), [])
  useHotkeys([['mod+K', paletteDoor.open]], [])
  if (!isWanted) return null
  return (
    <Boundary at={pathname} shown={() => null}>
      <Suspense fallback={null}>
        <Palette secured={secured} onLogOut={onLogOut} />
      </Suspense>
    </Boundary>
  )
}

/**
 * Ends the session here, and that of the platform where there is one.
 * @param logoutUrl of the platform; absent: the instance is not hosted
 */
function logOut(secured: boolean, logoutUrl: string | undefined): void {
  const ended = secured ? api.logout() : Promise.resolve()
  void ended.finally(() => window.location.assign(logoutUrl ?? '/'))
}

/** A daemon that does not answer in six seconds counts as down. */
function useHealth() {
  return useQuery({
    queryKey: keys.health,
    queryFn: () => api.health(AbortSignal.timeout(6_000)),
    // Its failure is what the banner says.
    retry: false,
    refetchInterval: ({ state }) => (state.status === 'error' ? 5_000 : 15_000),
  })
}

/** What stands above each page. Pages that fill the window leave room for it: `--banner` is its height, with the space below. */
function Banners() {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const [shown, root] = [box.current, document.documentElement]
    if (!shown) return
    // The observer calls this before the first paint, too. Measuring here as well would force a layout of an unfinished page.
    const tell = () => root.style.setProperty('--banner', `${shown.offsetHeight}px`)
    const watching = new ResizeObserver(tell)
    watching.observe(shown)
    return () => {
      watching.disconnect()
      root.style.removeProperty('--banner')
    }
  }, [])
  return (
    // What its last one has below it is part of its height.
    <div ref={box} style={{ display: 'flow-root' }}>
      <HealthBanner />
      <DemoBar />
    </div>
  )
}

/** As GET /health says it (engine/declared/health.ts), and with a capital that of a project. */
const NO_MODEL = /no model provider is set/i

/** @returns whether the banner over each page says that no model can be called, and where one is added: once is enough */
export const useIsNoModelSaid = (): boolean => NO_MODEL.test(useHealth().data?.detail ?? '')

/** What two lines of a phone hold, characters. */
const SHORT = 80

function HealthBanner() {
  const { data, isError } = useHealth()
  const isPhone = useIsPhone()
  const text = isError
    ? data
      ? 'Shown from an earlier read; may be out of date.'
      : 'Nothing was read yet.'
    : data && data.status !== 'ok'
      ? (data.detail ?? `The daemon is ${data.status}.`)
      : null
  if (!text) return null
  const told = (
    <>
      {withLocalTimes(text.charAt(0).toUpperCase() + text.slice(1), Date.now())}
      {!isError && NO_MODEL.test(text) && (
        <Acts>
          {'. '}
          {/* By itself: with parts/no-model.tsx the shell would load more of the kit. */}
          <Link to="/settings?tab=providers">Add a model provider</Link>
        </Acts>
      )}
    </>
  )
  return (
    <Alert
      mb="md"
      color={isError ? 'red' : 'yellow'}
      icon={<TriangleAlert size={18} aria-hidden />}
      title={
        isError
          ? 'Can’t reach svc. Retrying every 5 s'
          : data?.ingest_paused
            ? 'Storage full: ingest paused'
            : 'Degraded'
      }
      role="status"
    >
      {/* On a phone a long one would take a third of each page, every time. */}
      {isPhone && text.length > SHORT ? (
        <details>
          <summary>What is wrong</summary>
          {told}
        </details>
      ) : (
        told
      )}
    </Alert>
  )
}

/** What one may do who may not do everything: before a form is filled in, not after. */
function Scopes() {
  const { data } = useQuery({ queryKey: ['whoami'], queryFn: api.whoami, staleTime: 60_000 })
  if (!data || data.scopes.includes('admin')) return null
  return (
    <Text size="xs" c="dimmed" title={`Logged in as ${data.name}. Changes need a key with scope admin`}>
      Scope: {data.scopes.join(', ')}
    </Text>
  )
}

/** The time zone of the page. Its name is looked up when the pointer is on it, as the first use of Intl takes 10 ms. */
function Zone() {
  const [name, setName] = useState<string>()
  return (
    <Text
      size="xs"
      c="dimmed"
      title={name}
      onPointerEnter={() => setName(Intl.DateTimeFormat().resolvedOptions().timeZone)}
    >
      {zoneName(new Date())}
    </Text>
  )
}
