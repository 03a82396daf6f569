import { BlockList, isIP, isIPv4 } from 'node:net'

const notPublic = new BlockList()
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  notPublic.addSubnet(address, bits, 'ipv4')
for (const [address, bits] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  notPublic.addSubnet(address, bits, 'ipv6')

/** Says whether an IP address is one of the internet: not of this machine, of a private network, or one that stands for such. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) === 0) return false
  if (isIPv4(plain)) return !notPublic.check(plain, 'ipv4')
  const mapped = mappedIPv4(plain)
  return mapped === null ? !notPublic.check(plain, 'ipv6') : !notPublic.check(mapped, 'ipv4')
}

/** The IPv4 address that an IPv6 one is written for (`::ffff:127.0.0.1`), in whichever spelling; null for any other. */
function mappedIPv4(address: string): string | null {
  const host = URL.parse(`http://[${address}]/`)?.hostname ?? ''
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? []
  if (high === undefined || low === undefined) return null
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.')
}
