/** Begins OTLP/gRPC. A port that cannot be bound never stops the daemon: it is told, and HTTP goes on. */
import type { Doors, OtlpGrpcState } from '../http/doors.ts'
import { listenGrpc, type OtlpGrpc } from './grpc.ts'

/** @param port null: switched off; 0: any that is free. */
export async function startOtlpGrpc(
  doors: Doors,
  port: number | null,
): Promise<OtlpGrpcState & { close(): Promise<void> }> {
  const nothing = { port: null, problem: null, close: async () => {} }
  if (port === null) return nothing
  const { host } = doors.config
  try {
    const listening: OtlpGrpc = await listenGrpc(doors, host, port)
    return { port: listening.port, problem: null, close: listening.close }
  } catch (error) {
    return { ...nothing, problem: explain(error as NodeJS.ErrnoException, host, port) }
  }
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): string {
  const way = 'set SVC_OTLP_GRPC_PORT to a free port, or to off'
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is in use; ${way}`
  if (error.code === 'EACCES') return `port ${port} needs more rights than this user has; ${way}`
  return `port ${port} on ${host} cannot be bound: ${error.message}; ${way}`
}
