/** Whoever may not act is offered no act: what would be refused is not shown, or says what it needs. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Outlet } from 'react-router'
import { api } from '../client.ts'
import { PageHead } from './page.tsx'

/** Scopes that acts of the console need; admin implies the other. */
type Needed = 'admin' | 'respond'

/** @returns whether the caller has it; until that is known, what is asked for is for the daemon to refuse */
export function useMay(needed: Needed = 'admin'): boolean {
  // Asked before anything is drawn (app.tsx).
  const { data } = useQuery({ queryKey: ['whoami'], queryFn: api.whoami, staleTime: 60_000 })
  return !data || data.scopes.some((scope) => scope === 'admin' || scope === needed)
}

interface Props {
  scope?: Needed
  /** Where a form or a page would be without its only act: what that needs is said in its place. */
  says?: boolean
  children: ReactNode
}

/** What acts, for those who may. */
export function Acts({ scope = 'admin', says = false, children }: Props) {
  if (useMay(scope)) return children
  return says ? (
    <Text size="sm" c="dimmed">
      Changes need a key with scope {scope}.
    </Text>
  ) : null
}

/** Around the fields of what exists: whoever may not change it reads them, and types nothing that is then refused. */
export const Writable = ({ children }: { children: ReactNode }) => (
  <fieldset className="writable" disabled={!useMay()}>
    {children}
  </fieldset>
)

/** Around pages that are a form and nothing else: what cannot be saved is not filled in. */
export const FormPages = () =>
  useMay() ? <Outlet /> : <PageHead title="Changes need a key with scope admin." tab="Read only" />
