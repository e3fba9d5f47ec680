"""Stage 3 of 6: bytes of one file ↔ Arrow tables, one module per format.

base             `Format`, the interface; streams, faults, arrow_text, prefetch: shared by formats
parquet          with parquet_footer; filters, scan_options: its arguments
json             a folder: read infer rows structure typed_lines write
csv              with csv_layout, csv_options, csv_records, csv_types, csv_bytes, row_names, csv_write
sql              databases, with sql_write
arrow, text, xml, conll, lance, hdf5 (with hdf5_heaps), eval (logs of inspect_ai, with eval_members)
folders          media: imagefolder, audiofolder, videofolder, pdffolder, niftifolder, meshfolder
webdataset       tar shards
"""
