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
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { api, keys } from '../client.ts'
import { declared, dkeys } from '../declared-client.ts'
import { DemoBar } from './demo-bar.tsx'
import { PAGES } from './pages.ts'
import { Palette, palette } from './palette.tsx'

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
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !opened } }}
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
              to="/sources"
              aria-label="svc, to Sources"
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
              onClick={palette.open}
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
        <AppShell.Section grow>
          {PAGES.map(({ to, label, icon: Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon size={17} aria-hidden />}
              rightSection={to === '/proposals' ? <OpenProposals /> : undefined}
              active={pathname.startsWith(to)}
              aria-current={pathname.startsWith(to) ? 'page' : undefined}
              onClick={close}
            />
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
      <Palette secured={secured} onLogOut={logOut} />
    </AppShell>
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
    refetchInterval: 15_000,
  })
}

function HealthBanner() {
  const { data, isError } = useHealth()
  const text = isError
    ? 'The daemon does not answer. What you see may be out of date; it is asked again every few seconds.'
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
        title={isError ? 'No connection' : data?.ingest_paused ? 'Storage full: ingest paused' : 'Degraded'}
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
