/** The menu: pages in groups, each with how many of it need a person; settings, help, theme and version at the foot. */
import { AppShell, Badge, NavLink, Text, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Moon, Sun } from 'lucide-react'
import { memo, type ReactNode, useEffect } from 'react'
import { Link, useLocation } from 'react-router'
import type { Home } from '../../schemas/types.ts'
import ICON from '../icons/favicon.svg?inline'
import CRITICAL_ICON from '../icons/favicon-critical.svg?inline'
import { ikeys, incidents } from '../incident-client.ts'
import { FOOT, MENU, type MenuPage, menuPageOf } from './pages.ts'
import { useIncidentCounts } from './use-incident-counts.ts'

const COUNTED_MS = 30_000
/** Runs at work that Home lists at most. */
const LISTED_MAX = 20

/** @param onGo called when a page was chosen @param version of the daemon; absent: not known yet */
export function MenuEntries({ onGo, version }: { onGo: () => void; version: string | undefined }) {
  const here = menuPageOf(useLocation().pathname)
  const entryOf = (page: MenuPage) => <Entry key={page.to} page={page} isHere={page === here} onGo={onGo} />
  return (
    <>
      <AppShell.Section grow style={{ overflowY: 'auto' }}>
        {MENU.map(({ group, pages }) => (
          <div key={group ?? ''}>
            {group && (
              <Text size="xs" fw={500} c="dimmed" px="sm" pt={12} pb={2}>
                {group}
              </Text>
            )}
            {pages.map(entryOf)}
          </div>
        ))}
      </AppShell.Section>
      <AppShell.Section pt={4}>
        {FOOT.map(entryOf)}
        <SchemeSwitch />
        <Text size="xs" c="dimmed" px="sm" py={4}>
          {version ? `Version ${version}` : ' '}
        </Text>
      </AppShell.Section>
    </>
  )
}

interface EntryProps {
  page: MenuPage
  isHere: boolean
  onGo: () => void
}

/** Memoized: the shell renders again with each answer of /health, an entry only when its page is opened or left. */
const Entry = memo(function Entry({ page: { to, label, icon: Icon }, isHere, onGo }: EntryProps) {
  return (
    <NavLink
      component={Link}
      to={to}
      label={label}
      py={4}
      leftSection={<Icon size={16} strokeWidth={1.7} aria-hidden />}
      rightSection={COUNTS[to]}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      onClick={onGo}
    />
  )
})

const COUNTS: Record<string, ReactNode> = {
  '/incidents': <OpenIncidents />,
  '/runs': <AtWork />,
  '/deliveries': <FailedDeliveries />,
  '/changes': <OpenProposals />,
}

/** @param word what the number counts, as screen readers say it */
function Count({ n, word, color }: { n: number; word: string; color?: string | undefined }) {
  if (n === 0) return null
  return (
    <Badge size="sm" variant={color ? 'filled' : 'default'} color={color} aria-label={`${n} ${word}`}>
      {n > 99 ? '99+' : n}
    </Badge>
  )
}

/** How many incidents are open; the favicon has a red dot while one is critical. */
function OpenIncidents() {
  const counts = useIncidentCounts()
  const critical = (counts?.critical ?? 0) > 0
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (icon) icon.href = critical ? CRITICAL_ICON : ICON
  }, [critical])
  return <Count n={counts?.open ?? 0} word="open" color={critical ? 'red' : 'indigo'} />
}

/** What Home says; whoever may not read it is shown no numbers. */
function useHome<T>(select: (home: Home) => T): T | undefined {
  return useQuery({
    queryKey: ikeys.home(null),
    queryFn: () => incidents.home(),
    refetchInterval: COUNTED_MS,
    retry: false,
    select,
  }).data
}

function AtWork() {
  const running = useHome(({ agents }) => agents.filter(({ status }) => status === 'running').length) ?? 0
  return <Count n={running} word={running === LISTED_MAX ? 'running or more' : 'running'} />
}

function FailedDeliveries() {
  return <Count n={useHome(({ today }) => today.deliveries_failed) ?? 0} word="failed today" color="red" />
}

function OpenProposals() {
  return (
    <Count n={useHome(({ proposals_open }) => proposals_open) ?? 0} word="open proposals" color="indigo" />
  )
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const next = scheme === 'dark' ? 'light' : 'dark'
  const Icon = scheme === 'dark' ? Sun : Moon
  return (
    <NavLink
      component="button"
      label={next === 'dark' ? 'Dark theme' : 'Light theme'}
      aria-label={`Use the ${next} theme`}
      py={4}
      leftSection={<Icon size={16} strokeWidth={1.7} aria-hidden />}
      onClick={() => setColorScheme(next)}
    />
  )
}
