/**
 * Heading of a page with its actions. It sets the document's title, with how many incidents are open, and takes the
 * focus when the page was gone to: who cannot see it hears where they are.
 */
import { Group, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { drawnText } from '../lighter/jsx-runtime.ts'
import { useIncidentCounts } from './use-incident-counts.ts'

/** @param title of the page; its own, without the name of the service */
export function usePageTitle(title: string): void {
  const open = useIncidentCounts()?.open ?? 0
  useDocumentTitle(`${open > 0 ? `(${open}) ` : ''}${drawnText(title)} · svc`)
}

/** Path of the page that was headed last: the first that is loaded leaves the focus where it is. */
let headed: string | null = null

/** @returns for the heading of a page, which is focused once the page was gone to */
export function useHeadFocus<E extends HTMLElement>(): RefObject<E | null> {
  const { pathname } = useLocation()
  const head = useRef<E>(null)
  useEffect(() => {
    const isGoneTo = headed !== null && headed !== pathname
    headed = pathname
    const focused = document.activeElement
    // A field that takes the focus itself keeps it, and so does a dialog that was opened while the page was on its way.
    const isInPage =
      focused?.closest('main, [role="dialog"]') !== null && focused !== document.getElementById('page')
    if (isGoneTo && (focused === document.body || !isInPage)) head.current?.focus({ preventScroll: true })
  }, [pathname])
  return head
}

interface HeadProps {
  title: string
  /** Below it: what it is called elsewhere. */
  subtitle?: string | undefined
  /** How the page is called in the title of the window; absent: as in its heading. */
  tab?: string
  children?: ReactNode
}

export function PageHead({ title, subtitle, tab, children }: HeadProps) {
  usePageTitle(tab ?? title)
  const head = useHeadFocus<HTMLHeadingElement>()
  return (
    <Group justify="space-between" mb="md" gap="sm">
      <div style={{ minWidth: 0 }}>
        <Title order={1} ref={head} tabIndex={-1} className="page-title" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {subtitle && (
          <Text size="sm" c="dimmed">
            {subtitle}
          </Text>
        )}
      </div>
      <Group gap="xs">{children}</Group>
    </Group>
  )
}
