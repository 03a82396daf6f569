/** The time that this thread worked, in milliseconds: what else the machine does is no part of it. */
export function ownTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
