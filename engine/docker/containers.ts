/** The containers of an engine, and those that a source names. */
import { UpstreamError } from '../connectors/connector.ts'
import { type DockerClient, DockerRefusal } from './client.ts'
import type { LogOf } from './read-log.ts'

/** A row of GET /containers/json, as far as it is looked at. */
export interface ContainerRow {
  Id: string
  Names?: string[] | null
  Image?: string
  State?: string
  Status?: string
  Created?: number
  Labels?: Record<string, string> | null
  Ports?: { PrivatePort?: number; PublicPort?: number; Type?: string }[] | null
}

/** A container in our words. */
export interface Container {
  id: string
  name: string
  image: string
  state: string
  /** Epoch ms; 0: not said. */
  createdMs: number
  /** Of Docker Compose; null outside of it. */
  service: string | null
  project: string | null
  /** Its project's compose files. */
  composeFiles: string[]
  ports: { inside: number; outside: number }[]
}

const LABEL = 'com.docker.compose'
const LISTED = { all: '1' }

/** Every container of the engine, stopped ones too. @throws UpstreamError */
export async function listContainers(client: DockerClient): Promise<Container[]> {
  return rowsOf(await client.get('/containers/json', LISTED))
}

/**
 * The containers a source reads: the one of that name, else every replica of the compose service.
 * @param composeFile narrows to the project made of this file, as a whole path or the end of one.
 * @returns none where there is nothing of that name now. @throws UpstreamError
 */
export async function findContainers(
  client: DockerClient,
  name: string,
  composeFile: string | undefined,
): Promise<Container[]> {
  const ask = async (filters: Record<string, string[]>) =>
    rowsOf(await client.get('/containers/json', { ...LISTED, filters: JSON.stringify(filters) })).filter(
      (one) => composeFile === undefined || one.composeFiles.some((file) => isSameFile(file, composeFile)),
    )
  const pattern = `^/?${name.replaceAll('.', '\\.')}$`
  // Engines differ in what they take for a match; the name decides here.
  const named = (await ask({ name: [pattern] })).filter((one) => one.name === name)
  return named.length > 0
    ? named
    : (await ask({ label: [`${LABEL}.service=${name}`] })).filter((one) => one.service === name)
}

/** What must be known to read its log; null where it has gone meanwhile. @throws UpstreamError */
export async function inspect(client: DockerClient, container: Container): Promise<LogOf | null> {
  try {
    const { Config, State } = await client.get<{ Config?: { Tty?: boolean }; State?: { Running?: boolean } }>(
      `/containers/${container.id}/json`,
    )
    return { id: container.id, hasTerminal: Config?.Tty === true, running: State?.Running === true }
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** The name of its logging driver; null where it has gone meanwhile. @throws UpstreamError */
export async function loggingDriver(client: DockerClient, { id }: Container): Promise<string | null> {
  try {
    const { HostConfig } = await client.get<{ HostConfig?: { LogConfig?: { Type?: string } } }>(
      `/containers/${id}/json`,
    )
    return HostConfig?.LogConfig?.Type ?? null
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** Whether a container was removed between two calls. */
export const isGone = (error: unknown): boolean =>
  error instanceof DockerRefusal && (error.status === 404 || error.status === 409)

function rowsOf(rows: unknown): Container[] {
  if (!Array.isArray(rows)) throw new UpstreamError('the list of containers Docker sent cannot be read')
  return (rows as ContainerRow[])
    .filter((row) => typeof row?.Id === 'string' && /^[0-9a-f]{12,64}$/.test(row.Id))
    .filter((row) => row.Labels?.[`${LABEL}.oneoff`]?.toLowerCase() !== 'true')
    .map(containerOf)
}

function containerOf({ Id, Names, Image, State, Created, Labels, Ports }: ContainerRow): Container {
  const labels = Labels ?? {}
  const ports = (Ports ?? []).flatMap(({ PrivatePort, PublicPort, Type }) =>
    PrivatePort && PublicPort && Type !== 'udp' ? [{ inside: PrivatePort, outside: PublicPort }] : [],
  )
  return {
    id: Id,
    name: (Names?.[0] ?? Id.slice(0, 12)).replace(/^\//, ''),
    image: Image ?? '',
    state: State ?? '',
    createdMs: typeof Created === 'number' ? Created * 1000 : 0,
    service: labels[`${LABEL}.service`] ?? null,
    project: labels[`${LABEL}.project`] ?? null,
    composeFiles: (labels[`${LABEL}.project.config_files`] ?? '').split(',').filter(Boolean),
    ports,
  }
}

/**
 * Whether a compose file is the one given: its whole path, or the end of it.
 * Compose notes whole paths of its own machine, of which a person may know the end.
 */
export function isSameFile(file: string, given: string): boolean {
  const whole = file.replaceAll('\\', '/')
  const end = given.replaceAll('\\', '/').replace(/^(\.\/)+/, '')
  return whole === end || (!end.startsWith('/') && whole.endsWith(`/${end}`))
}
