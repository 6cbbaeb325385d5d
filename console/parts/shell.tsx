/** Sidebar, header with the command palette, health banner, and the page. */
import {
  ActionIcon,
  Alert,
  AppShell,
  Badge,
  Burger,
  Button,
  Group,
  Kbd,
  NavLink,
  Text,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { BookOpen, LogOut, Moon, Search, Sun, TriangleAlert } from 'lucide-react'
import { type ReactNode, type RefObject, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { api, keys } from '../client.ts'
import { declared, dkeys } from '../declared-client.ts'
import { lazyFrom } from '../lib/chunks.ts'
import { DemoBar } from './demo-bar.tsx'
import { Boundary } from './page-boundary.tsx'
import { isAt, MENU } from './pages.ts'
import { paletteDoor } from './palette-door.ts'
import { useIncidentCounts } from './use-incident-counts.ts'

/** How many proposals wait, where any do. */
function OpenProposals() {
  const { data } = useQuery({
    queryKey: dkeys.proposals('waiting'),
    queryFn: declared.openProposals,
    refetchInterval: 30_000,
    // Whoever may not read them has none to decide.
    retry: false,
  })
  return data ? (
    <Badge size="sm" circle aria-label={`${data} open`}>
      {data > 99 ? '99' : data}
    </Badge>
  ) : null
}

/** How many incidents are open, where any are; the favicon has a red dot while one is critical. */
function OpenIncidents() {
  const counts = useIncidentCounts()
  const critical = (counts?.critical ?? 0) > 0
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (icon) icon.href = critical ? '/favicon-critical.svg' : '/favicon.svg'
  }, [critical])
  return counts?.open ? (
    <Badge size="sm" color={critical ? 'red' : undefined} aria-label={`${counts.open} open`}>
      {counts.open > 99 ? '99+' : counts.open}
    </Badge>
  ) : null
}

const BADGES: Record<string, ReactNode> = {
  '/incidents': <OpenIncidents />,
  '/proposals': <OpenProposals />,
}

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false)
  const { pathname } = useLocation()
  const go = useNavigate()
  useHotkeys([['mod+I', () => void go('/ask')]])
  const health = useHealth()
  const secured = health.data?.auth_required ?? false
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
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? 'Close the menu' : 'Open the menu'}
              aria-expanded={opened}
            />
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
              <img src="/favicon.svg" alt="" width={22} height={22} />
              <Text fw={700}>svc</Text>
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button
              variant="default"
              size="xs"
              leftSection={<Search size={14} aria-hidden />}
              onClick={paletteDoor.open}
              rightSection={<Kbd size="xs">Ctrl K</Kbd>}
            >
              Search
            </Button>
            <SchemeSwitch />
            {secured && (
              <Tooltip label="Log out">
                <ActionIcon variant="default" aria-label="Log out" onClick={logOut}>
                  <LogOut size={16} aria-hidden />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <AppShell.Section grow style={{ overflowY: 'auto' }}>
          {MENU.map(({ group, pages }) => (
            <div key={group ?? ''}>
              {group && (
                <Text size="xs" fw={600} c="dimmed" px="sm" pt={8} pb={2}>
                  {group}
                </Text>
              )}
              {pages.map(({ to, label, icon: Icon }) => (
                <NavLink
                  key={to}
                  component={Link}
                  to={to}
                  label={label}
                  py={3}
                  leftSection={<Icon size={16} strokeWidth={1.7} aria-hidden />}
                  rightSection={BADGES[to]}
                  active={isAt(to, pathname)}
                  aria-current={isAt(to, pathname) ? 'page' : undefined}
                  onClick={close}
                />
              ))}
            </div>
          ))}
          <NavLink
            component="a"
            href="/docs/"
            label="API reference"
            leftSection={<BookOpen size={17} aria-hidden />}
          />
        </AppShell.Section>
        <AppShell.Section px="sm" pb={4}>
          <Text size="xs" c="dimmed">
            {health.data?.version ? `Version ${health.data.version}` : ' '}
          </Text>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1}>
        <HealthBanner />
        <DemoBar />
        {children}
      </AppShell.Main>
      <WantedPalette secured={secured} />
    </AppShell>
  )
}

const Palette = lazyFrom(() => import('./palette.tsx'))('Palette')

/** It reads rows of many pages: loaded once it is asked for, and where one cannot be read the rest goes on. */
function WantedPalette({ secured }: { secured: boolean }) {
  const { pathname } = useLocation()
  const [isWanted, setWanted] = useState(false)
  useEffect(() => paletteDoor.onWanted(() => setWanted(true)), [])
  // Once it is there, it listens to this by itself.
  useHotkeys([['mod+K', () => !isWanted && paletteDoor.open()]], [])
  if (!isWanted) return null
  return (
    <Boundary at={pathname} shown={() => null}>
      <Suspense fallback={null}>
        <Palette secured={secured} onLogOut={logOut} />
      </Suspense>
    </Boundary>
  )
}

function logOut(): void {
  void api.logout().finally(() => window.location.assign('/'))
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

function HealthBanner() {
  const { data, isError } = useHealth()
  const text = isError
    ? 'What is shown was read before, and may be out of date.'
    : data && data.status !== 'ok'
      ? (data.detail ?? `The daemon is ${data.status}.`)
      : null
  const box = useRef<HTMLDivElement>(null)
  useBannerSpace(box, text !== null)
  if (!text) return null
  return (
    <div ref={box} style={{ paddingBottom: 'var(--mantine-spacing-md)' }}>
      <Alert
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
        {text.charAt(0).toUpperCase() + text.slice(1)}
      </Alert>
    </div>
  )
}

/** Pages that fill the window leave room for it: `--banner` is its height, with the space below. */
function useBannerSpace(box: RefObject<HTMLElement | null>, isShown: boolean): void {
  useLayoutEffect(() => {
    const [shown, root] = [box.current, document.documentElement]
    if (!isShown || !shown) return
    const tell = () => root.style.setProperty('--banner', `${shown.offsetHeight}px`)
    tell()
    const watching = new ResizeObserver(tell)
    watching.observe(shown)
    return () => {
      watching.disconnect()
      root.style.removeProperty('--banner')
    }
  }, [box, isShown])
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const next = scheme === 'dark' ? 'light' : 'dark'
  return (
    <Tooltip label={`Use the ${next} theme`}>
      <ActionIcon variant="default" aria-label={`Use the ${next} theme`} onClick={() => setColorScheme(next)}>
        {scheme === 'dark' ? <Sun size={16} aria-hidden /> : <Moon size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  )
}
