/** What others have published of the cost of paging, each with its source. Not measured here, and on other machines. */

export interface Published {
  readonly who: string;
  readonly what: string;
  readonly figure: string;
  readonly source: string;
}

export const PUBLISHED: readonly Published[] = [
  {
    who: 'vLLM',
    what: 'its first paged attention kernels against FasterTransformer’s, on long contexts',
    figure: '20 to 26 % slower',
    source: 'https://arxiv.org/abs/2309.06180',
  },
  {
    who: 'vLLM',
    what: 'paged v1/v2 (no sharing among query heads) against FlashAttention; A100, 64/8 heads, 1024 tokens, batch 4',
    figure: '68.6/71.4 µs against 27.4 µs',
    source: 'https://github.com/vllm-project/vllm/pull/2744',
  },
  {
    who: 'FlashInfer',
    what: 'attention over pages of any size, in bandwidth',
    figure: '90 % of dense',
    source: 'https://github.com/flashinfer-ai/flashinfer',
  },
  {
    who: 'FlashInfer',
    what: 'decode of skewed batches, of the peak bandwidth',
    figure: '70 to 83 %',
    source: 'https://arxiv.org/abs/2501.01005',
  },
  {
    who: 'FlashAttention',
    what: 'decode on B200, 4 × 128k tokens, 32 heads, head dim 128: pages of 1, 32, 128',
    figure: '0.87, 1.35, 4.00 TB/s',
    source: 'https://github.com/Dao-AILab/flash-attention/pull/1999',
  },
  {
    who: 'FlashAttention',
    what: 'MLA decode on B200 against no pages: pages of 128; of 64 and 16',
    figure: '0.1 % slower; 17 to 24 % slower',
    source: 'https://github.com/Dao-AILab/flash-attention/pull/2468',
  },
];
