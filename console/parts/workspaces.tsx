/** Of a hosted instance: the workspaces of whoever is signed in, to go from one to another. */
import { Button, NavLink, Popover, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronsUpDown } from 'lucide-react'
import type { Health } from '../../schemas/types.ts'
import { api, keys } from '../client.ts'

/** Nothing where the instance is not hosted. */
export function Workspaces({ health }: { health: Health | undefined }) {
  const { workspaces_url: all, workspace_api_url: listed } = health ?? {}
  const { data } = useQuery({
    queryKey: keys.workspaces,
    queryFn: api.workspaces,
    enabled: listed !== undefined,
    staleTime: 60_000,
    retry: false,
  })
  if (all === undefined && listed === undefined) return null
  const current = data?.workspaces.find(({ is_current }) => is_current)
  return (
    <Popover position="bottom-end" withinPortal={false} withRoles={false} trapFocus>
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          aria-label={current ? `Workspace ${current.name}: switch` : 'Switch workspace'}
          rightSection={<ChevronsUpDown size={14} aria-hidden />}
        >
          <Text span size="xs" truncate maw={140} className="wide-only">
            {current?.name ?? 'Workspaces'}
          </Text>
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={4} mah={360} miw={200} style={{ overflowY: 'auto' }}>
        <nav aria-label="Workspaces">
          {data?.workspaces.map(({ id, name, url, is_current }) => (
            <NavLink
              key={id}
              component="a"
              href={url}
              label={name}
              py={4}
              active={is_current}
              aria-current={is_current ? 'true' : undefined}
            />
          ))}
          {data?.reason === 'error' && (
            <Text size="xs" c="dimmed" px="sm" py={4} maw={260}>
              The workspaces could not be listed: {data.detail}
            </Text>
          )}
          {all !== undefined && <NavLink component="a" href={all} label="All workspaces" py={4} />}
        </nav>
      </Popover.Dropdown>
    </Popover>
  )
}
