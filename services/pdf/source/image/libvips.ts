// Loads libvips (sharp) with no more of it than the readers of the supported formats, and without its temporary files.

/** The readers of libvips for the supported formats, from memory only. All others stay blocked: SVG, HEIF, PDF, files. */
const READERS = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadTiffBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadNsgifBuffer',
];

type SharpModule = typeof import('sharp');
let loading: Promise<SharpModule['default']> | undefined;

/** Loads libvips when the first image comes: most jobs are PDFs. */
export function loadSharp(): Promise<SharpModule['default']> {
  loading ??= (async () => {
    // libvips writes images above this size to a temporary file. Documents must not be written to a disk. The largest unit that it knows is `g`.
    process.env.VIPS_DISC_THRESHOLD = '1000g';
    const { default: sharp } = await import('sharp');
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: READERS });
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  })();
  return loading;
}
