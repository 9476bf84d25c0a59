// Writes the LibreOffice profile of this service: no macros, no links, no network, no recovery files.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

type Setting = readonly [path: string, name: string, value: string | number | boolean];

/** A proxy on a port where nothing listens (9, "discard", RFC 863), so that any network request fails. */
const DEAD_PROXY = ['127.0.0.1', 9] as const;

const SETTINGS: readonly Setting[] = [
  ['/org.openoffice.Office.Common/Security/Scripting', 'MacroSecurityLevel', 3],
  ['/org.openoffice.Office.Common/Security/Scripting', 'DisableMacrosExecution', true],
  ['/org.openoffice.Office.Common/Security/Scripting', 'BlockUntrustedRefererLinks', true],
  // 0 is "never" for Writer (NEVER of its UPDATEMODE), 1 for Calc (LM_NEVER of its ScLkUpdMode).
  ['/org.openoffice.Office.Writer/Content/Update', 'Link', 0],
  ['/org.openoffice.Office.Calc/Content/Update', 'Link', 1],
  // 1 means "never recalculate on load": the cached values are what the file shows, and formulas could open connections.
  ['/org.openoffice.Office.Calc/Formula/Load', 'OOXMLRecalcMode', 1],
  ['/org.openoffice.Office.Calc/Formula/Load', 'ODFRecalcMode', 1],
  ['/org.openoffice.Inet/Settings', 'ooInetProxyType', 2],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPProxyName', DEAD_PROXY[0]],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPProxyPort', DEAD_PROXY[1]],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPSProxyName', DEAD_PROXY[0]],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPSProxyPort', DEAD_PROXY[1]],
  ['/org.openoffice.Inet/Settings', 'ooInetFTPProxyName', DEAD_PROXY[0]],
  ['/org.openoffice.Inet/Settings', 'ooInetFTPProxyPort', DEAD_PROXY[1]],
  ['/org.openoffice.Inet/Settings', 'ooInetNoProxy', ''],
  ['/org.openoffice.Office.Recovery/AutoSave', 'Enabled', false],
  ['/org.openoffice.Office.Recovery/RecoveryInfo', 'Enabled', false],
  ['/org.openoffice.Office.Common/Misc', 'UseOpenCL', false],
  ['/org.openoffice.Office.Common/Misc', 'FirstRun', false],
  ['/org.openoffice.Setup/Office', 'ooSetupInstCompleted', true],
];

/** Writes a new profile into a folder. */
export async function writeProfile(folder: string): Promise<void> {
  const items = SETTINGS.map(
    ([path, name, value]) =>
      `<item oor:path="${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
  );
  await mkdir(join(folder, 'user'), { recursive: true });
  await writeFile(
    join(folder, 'user', 'registrymodifications.xcu'),
    `<?xml version="1.0" encoding="UTF-8"?>\n<oor:items xmlns:oor="http://openoffice.org/2001/registry">\n${items.join('\n')}\n</oor:items>\n`,
  );
}
