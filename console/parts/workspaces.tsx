/** Of a hosted instance: the workspaces of whoever is signed in, to go from one to another. */
import { Button, Menu, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Check, ChevronsUpDown } from 'lucide-react'
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
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          aria-label={current ? `Workspace ${current.name}: switch` : 'Switch workspace'}
          rightSection={<ChevronsUpDown size={14} aria-hidden />}
        >
          <Text span size="xs" truncate maw={140}>
            {current?.name ?? 'Workspaces'}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {data?.workspaces.map(({ id, name, url, is_current }) => (
          <Menu.Item
            key={id}
            component="a"
            href={url}
            aria-current={is_current ? 'true' : undefined}
            leftSection={is_current ? <Check size={14} aria-hidden /> : <span style={{ width: 14 }} />}
          >
            {name}
          </Menu.Item>
        ))}
        {data?.reason === 'error' && (
          <Text size="xs" c="dimmed" px="sm" py={4} maw={260}>
            The workspaces could not be listed: {data.detail}
          </Text>
        )}
        {all !== undefined && (
          <>
            {(data?.workspaces.length ?? 0) > 0 && <Menu.Divider />}
            <Menu.Item component="a" href={all}>
              All workspaces
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
